import { CommandHandler } from '@nestjs/cqrs';
import {
  type DataOf,
  checkQuota,
  forbidden,
  Ids,
  mayCreateOrganizations,
  OrganizationCreation,
  Quotas,
  sql,
} from '#platform/kernel';
import { refuseTakenName } from '#platform/postgres';
import {
  type Actor,
  verifyCurrentAccess,
  createEventContext,
  countOwned,
  requirePermission,
  requireCurrentAccess,
  SITE_SCOPE,
  type Permission,
  changeResource,
} from '#api/access';
import {
  AggregateCommand,
  type Operation,
  AggregateHandler,
  EventStore,
  getFirstRow,
  getFirstRowOrNull,
  type OperationTable,
} from '#storage/event-store';
import { expectPoolVersion } from '#organizations/agents';
import {
  type FeatureSet,
  type OrganizationChanges,
  type OrganizationCommand,
  organization,
  ORGANIZATION_POOL_POINTER,
} from './organization.js';
import {
  type OrganizationWithTtlPolicies,
  selectOrganizationById,
  loadOrganizationForCommand,
} from './organizations.queries.js';
import { prepareOrganization } from './new-organization.writes.js';

/**
 * Operations on an existing organization identify it by its name, and resolve to null if it has been deleted meanwhile.
 */
type OrganizationOperations = {
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
  /** Deletes any organization, without the permission of an owner. */
  DeleteAsSiteAdmin: Operation<{ name: string; actor: Actor }, void>;
};

export class ChangeOrganization<T extends keyof OrganizationOperations> extends AggregateCommand<
  OrganizationOperations,
  T
> {}

/** A change of one existing organization. */
type OrganizationTask = {
  readonly name: string;
  readonly actor: Actor;
  readonly permission: Permission;
  readonly command: OrganizationCommand;
  /** The agent pool that the command refers to. */
  readonly pool?: string | null;
};

const DELETION: OrganizationCommand = { type: 'DeleteOrganization', data: {} };

const refuseTaken = refuseTakenName(['organizations_name_key', 'organizations_reserved_name_key']);

@CommandHandler(ChangeOrganization)
export class OrganizationsHandler extends AggregateHandler<OrganizationOperations> {
  protected readonly operations: OperationTable<OrganizationOperations> = {
    CreateOrganization: (input) => this.create(input),
    UpdateOrganization: ({ name, changes, actor }) =>
      this.append({
        name,
        actor,
        permission: 'update-organization',
        command: { type: 'UpdateOrganization', data: { changes } },
        pool: changes.defaultAgentPool || null,
      }),
    UpdateAsSiteAdmin: ({ name, changes, actor }) =>
      this.append({
        name,
        actor,
        permission: 'manage-site',
        command: { type: 'UpdateOrganization', data: { changes } },
      }),
    ChangeFeatureSet: ({ name, featureSet, actor }) =>
      this.append({
        name,
        actor,
        permission: 'manage-subscription',
        command: { type: 'ChangeFeatureSet', data: { featureSet } },
      }),
    ChangeTokenTtlPolicies: ({ name, maxTtls, actor }) =>
      this.append({
        name,
        actor,
        permission: 'update-organization',
        command: { type: 'ChangeTokenTtlPolicies', data: { maxTtls } },
      }),
    DeleteOrganization: async ({ name, actor }) => {
      await this.append({ name, actor, permission: 'delete-organization', command: DELETION });
    },
    DeleteAsSiteAdmin: async ({ name, actor }) => {
      await this.append({ name, actor, permission: 'manage-site', command: DELETION });
    },
  };

  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
    private readonly quotas: Quotas,
    private readonly creation: OrganizationCreation,
  ) {
    super();
  }

  /** Creates the organization with its default project and its owners team, whose first member is the caller. */
  private async create(
    input: OrganizationOperations['CreateOrganization']['input'],
  ): Promise<OrganizationWithTtlPolicies> {
    const { actor, ...data } = input;
    // Tokens of organizations and teams act only inside their organization. Only users create organizations.
    requirePermission(actor, 'create-organization', SITE_SCOPE);
    if (!mayCreateOrganizations(this.creation, actor)) {
      throw forbidden('Only administrators of the site may create organizations (CADASTRE_ORGANIZATION_CREATORS)');
    }
    await this.checkOwned(actor);
    const { id, writes } = prepareOrganization(this.ids, { user: actor.id, username: actor.name }, data);
    // A new organization has no pools, so any pool is refused.
    expectPoolVersion(data.settings.defaultAgentPool ?? null, null, { pointer: ORGANIZATION_POOL_POINTER });
    // Nothing was read before, so the append itself must check the caller's access.
    const accessCheck = [sql`select ${requireCurrentAccess(actor)}`];
    const { rows } = await this.store
      .append(writes, createEventContext(actor), [selectOrganizationById(id)], accessCheck)
      .catch(refuseTaken);
    return getFirstRow<OrganizationWithTtlPolicies>(rows);
  }

  /**
   * Checks the quota of organizations. Below the quota it needs no statement: the append fails if the caller's roles
   * are outdated.
   */
  private async checkOwned(actor: Actor): Promise<void> {
    const { organizationsPerUser: most } = this.quotas;
    if (actor.siteAdmin || most === null || countOwned(actor) < most) return;
    // If the caller's roles are outdated, for example after a deletion, this repeats the request with the present
    // roles.
    await verifyCurrentAccess(this.store.database, actor);
    checkQuota('organizationsPerUser', most, countOwned(actor));
  }

  /** Resolves to null if the organization has been deleted meanwhile. */
  private async append(task: OrganizationTask): Promise<OrganizationWithTtlPolicies | null> {
    const { name, actor, permission, command, pool = null } = task;
    const rows = await changeResource(this.store, organization, {
      actor,
      load: async () => {
        const row = await loadOrganizationForCommand(this.store.database, actor, permission, name, pool);
        return { ...row, organization: row.id };
      },
      command,
      writes: (row) => expectPoolVersion(pool, row.poolVersion, { pointer: ORGANIZATION_POOL_POINTER }),
      read: ({ id }) => [selectOrganizationById(id)],
    }).catch(refuseTaken);
    return getFirstRowOrNull<OrganizationWithTtlPolicies>(rows);
  }
}
