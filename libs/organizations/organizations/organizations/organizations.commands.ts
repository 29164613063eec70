import type { DataOf } from '#platform/kernel';
import type { Actor } from '#api/access';
import { AggregateCommand, type Operation } from '#storage/event-store';
import type { FeatureSet, OrganizationChanges, OrganizationCommand } from './organization.js';
import type { OrganizationWithTtlPolicies } from './organizations.queries.js';

/**
 * Operations on an existing organization identify it by its name, and resolve to null if it has been deleted meanwhile.
 */
export type OrganizationOperations = {
  CreateOrganization: Operation<
    {
      name: string;
      email: string;
      featureSet: FeatureSet;
      settings: Omit<OrganizationChanges, 'name' | 'email'>;
      actor: Actor;
    },
    OrganizationWithTtlPolicies
  >;
  UpdateOrganization: Operation<
    { name: string; changes: OrganizationChanges; actor: Actor },
    OrganizationWithTtlPolicies | null
  >;
  /** The changes that site administrators make, which owners cannot. */
  UpdateAsSiteAdmin: Operation<
    { name: string; changes: OrganizationChanges; actor: Actor },
    OrganizationWithTtlPolicies | null
  >;
  ChangeFeatureSet: Operation<
    { name: string; featureSet: FeatureSet; actor: Actor },
    OrganizationWithTtlPolicies | null
  >;
  ChangeTokenTtlPolicies: Operation<
    { name: string; maxTtls: DataOf<OrganizationCommand, 'ChangeTokenTtlPolicies'>['maxTtls']; actor: Actor },
    OrganizationWithTtlPolicies | null
  >;
  DeleteOrganization: Operation<{ name: string; actor: Actor }, void>;
};

export class ChangeOrganization<T extends keyof OrganizationOperations> extends AggregateCommand<
  OrganizationOperations,
  T
> {}
