import { toMany, toOne, type Resource } from '#api/json-api';
import { deriveSubscriptionId } from '../entitlements/subscriptions.controller.js';
import type { AdministeredOrganizationRow } from '../organizations/organizations.queries.js';

/** Renders an organization with the members that only site administrators see. */
export const renderAdministeredOrganization = (row: AdministeredOrganizationRow): Resource => ({
  id: row.name,
  type: 'organizations',
  attributes: {
    name: row.name,
    'external-id': row.id,
    'notification-email': row.email,
    'access-beta-tools': row.settings.accessBetaTools,
    'global-module-sharing': row.settings.globalModuleSharing,
    'global-provider-sharing': false,
    'is-disabled': false,
    'sso-enabled': row.settings.collaboratorAuthPolicy === 'sso_mandatory',
    'workspace-limit': null,
    'plan-timeout': null,
    'apply-timeout': null,
    // go-tfe reads the limits by these names.
    'terraform-build-worker-plan-timeout': null,
    'terraform-build-worker-apply-timeout': null,
    'terraform-worker-sudo-enabled': false,
  },
  relationships: {
    owners: toMany('users', row.owners),
    subscription: toOne(
      'subscriptions',
      deriveSubscriptionId(row.id),
      `/api/v2/organizations/${row.name}/subscription`,
    ),
    'feature-set': toOne('feature-sets', `fs-${row.featureSet}`),
  },
  links: { self: `/api/v2/admin/organizations/${row.name}` },
});
