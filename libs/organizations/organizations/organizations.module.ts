import { Module, type DynamicModule } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { OrganizationCreation, Quotas } from '#platform/kernel';
import { defineAggregate, toProjection, type ModuleDefinition } from '#storage/event-store';
import { ORGANIZATION_NAMES, PROJECT_NAMES } from '#api/access';
import { MembershipOrganizations } from '#identity/people';
import { organization, type FeatureSet } from './organizations/organization.js';
import { organizationEvents } from './organizations.events.js';
import {
  organizationEpochs,
  organizations,
  projectNames,
  projects,
  refillReservedNames,
  reservedNames,
} from './organizations.projection.js';
import { project } from './projects/project.js';
import { projectTags } from './projects/project-tags.projection.js';
import { selectRelatedOrganizations } from './organizations.related.js';
import { AdminOrganizationsController } from './administration/admin-organizations.controller.js';
import { EntitlementSetsController } from './entitlements/entitlement-sets.controller.js';
import { FeatureSetsController } from './entitlements/feature-sets.controller.js';
import { INITIAL_FEATURE_SET, OrganizationsController } from './organizations/organizations.controller.js';
import { OrganizationTokenTtlPoliciesController } from './token-ttl-policies/organization-token-ttl-policies.controller.js';
import { OrganizationsHandler } from './organizations/organizations.handler.js';
import { ProjectsController } from './projects/projects.controller.js';
import { ProjectsHandler } from './projects/projects.handler.js';
import { SubscriptionsController } from './entitlements/subscriptions.controller.js';

export const organizationsDefinition: ModuleDefinition = {
  name: 'organizations',
  kinds: organizationEvents,
  aggregates: [defineAggregate('org', organization), defineAggregate('prj', project)],
  projections: [
    toProjection(organizations),
    toProjection(reservedNames),
    toProjection(organizationEpochs),
    toProjection(projects),
    toProjection(projectNames),
    toProjection(projectTags),
  ],
  followers: [],
  uniqueNames: [ORGANIZATION_NAMES, PROJECT_NAMES],
  migrations: new URL('./sql/', import.meta.url),
  tablesOutsideLog: [{ table: 'organizations.reserved_names', backup: 'refill', refill: refillReservedNames() }],
};

@Module({})
export class OrganizationsModule {
  static with(settings: {
    readonly featureSet: FeatureSet;
    readonly quotas: Quotas;
    readonly organizationCreation: OrganizationCreation;
  }): DynamicModule {
    return {
      module: OrganizationsModule,
      // Memberships include organizations through a port that people declare.
      global: true,
      imports: [CqrsModule],
      controllers: [
        AdminOrganizationsController,
        EntitlementSetsController,
        FeatureSetsController,
        OrganizationTokenTtlPoliciesController,
        OrganizationsController,
        ProjectsController,
        SubscriptionsController,
      ],
      providers: [
        OrganizationsHandler,
        ProjectsHandler,
        {
          provide: MembershipOrganizations,
          useValue: { related: selectRelatedOrganizations } satisfies MembershipOrganizations,
        },
        { provide: INITIAL_FEATURE_SET, useValue: settings.featureSet },
        { provide: Quotas, useValue: settings.quotas },
        { provide: OrganizationCreation, useValue: settings.organizationCreation },
      ],
      exports: [MembershipOrganizations],
    };
  }
}
