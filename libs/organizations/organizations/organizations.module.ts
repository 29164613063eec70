import { Module, type DynamicModule } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { OrganizationCreation, Quotas } from '#platform/kernel';
import { MembershipOrganizations } from '#identity/people';
import { selectRelatedOrganizations } from './organizations.related.js';
import { AdminOrganizationsController } from './administration/admin-organizations.controller.js';
import { EntitlementSetsController } from './entitlements/entitlement-sets.controller.js';
import { FeatureSetsController } from './entitlements/feature-sets.controller.js';
import type { FeatureSet } from './organizations/organization.js';
import { INITIAL_FEATURE_SET, OrganizationsController } from './organizations/organizations.controller.js';
import { OrganizationTokenTtlPoliciesController } from './token-ttl-policies/organization-token-ttl-policies.controller.js';
import { OrganizationsHandler } from './organizations/organizations.handler.js';
import { ProjectsController } from './projects/projects.controller.js';
import { ProjectsHandler } from './projects/projects.handler.js';
import { SubscriptionsController } from './entitlements/subscriptions.controller.js';

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
