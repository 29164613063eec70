import { can, type Identity, type Permission } from '#api/access';
import { toAttributes, linkTo, toOne, type Resource } from '#api/json-api';
import type { OrganizationRow } from './organizations.queries.js';

/** The permission that decides each key of `permissions`, for the whole organization. */
export const PERMISSION_KEYS = {
  'can-update': 'update-organization',
  'can-destroy': 'delete-organization',
  'can-traverse': 'read-organization',
  'can-access-via-teams': 'read-teams',
  'can-create-team': 'manage-teams',
  'can-create-project': 'create-project',
  'can-create-workspace': 'create-workspace',
  'can-create-workspace-migration': 'create-workspace',
  'can-manage-users': 'manage-memberships',
  'can-manage-membership': 'manage-team-membership',
  'can-manage-subscription': 'manage-subscription',
  'can-manage-tags': 'tag-workspace',
  'can-manage-varsets': 'manage-variable-sets',
  'can-read-varsets': 'read-variable-sets',
  'can-manage-run-tasks': 'manage-run-tasks',
  'can-read-run-tasks': 'read-organization',
  'can-manage-policies': 'manage-policies',
  'can-manage-policy-overrides': 'override-policies',
  'can-read-policies': 'read-policies',
  'can-update-agent-pools': 'manage-agent-pools',
  'can-update-api-token': 'manage-organization-tokens',
  'can-update-oauth': 'manage-vcs-connections',
  'can-update-ssh-keys': 'manage-ssh-keys',
  'can-create-provider': 'manage-providers',
  'can-manage-custom-providers': 'manage-providers',
  'can-create-module': 'manage-modules',
  'can-read-audit-trail': 'read-audit-trail',
  'can-manage-auditing': 'manage-audit-trail',
} as const satisfies Record<string, Permission>;

/** Permissions for features that do not exist, always false. */
export const UNSUPPORTED_PERMISSIONS = [
  'can-deploy-no-code-modules',
  'can-manage-no-code-modules',
  'can-manage-public-modules',
  'can-manage-sso',
  'can-start-trial',
  'can-update-sentinel',
];

const renderPermissions = ({ id: organization, settings }: OrganizationRow, actor: Identity): Record<string, boolean> =>
  Object.fromEntries([
    ...Object.entries(PERMISSION_KEYS).map(
      ([key, permission]) => [key, can(actor, permission, { organization })] as const,
    ),
    [
      'can-manage-public-providers',
      settings.publicProviderCurationEnabled && can(actor, 'manage-providers', { organization }),
    ] as const,
    ...UNSUPPORTED_PERMISSIONS.map((key) => [key, false] as const),
  ]);

/** Renders an organization. Its id is its name; the stable id is `external-id`. */
export const renderOrganization = (row: OrganizationRow, actor: Identity): Resource => {
  const { defaultAgentPool, accessBetaTools: _, planTimeout: __, applyTimeout: ___, ...settings } = row.settings;
  return {
    id: row.name,
    type: 'organizations',
    attributes: {
      name: row.name,
      'external-id': row.id,
      email: row.email,
      'created-at': row.createdAt,
      ...toAttributes(settings),
      'is-unified': false,
      'saml-enabled': false,
      'two-factor-conformant': true,
      'plan-expired': false,
      'plan-expires-at': null,
      'plan-is-trial': false,
      'plan-is-enterprise': true,
      'plan-identifier': row.featureSet,
      'trial-expires-at': null,
      // Number of modules that can still be tested. The registry contains no modules.
      'remaining-testable-count': 0,
      permissions: renderPermissions(row, actor),
    },
    relationships: {
      'authentication-token': linkTo(`/api/v2/organizations/${row.name}/authentication-token`),
      'entitlement-set': {
        data: { id: row.id, type: 'entitlement-sets' },
        links: { related: `/api/v2/organizations/${row.name}/entitlement-set` },
      },
      'default-project': toOne('projects', row.defaultProject, `/api/v2/projects/${row.defaultProject}`),
      'default-agent-pool': toOne('agent-pools', defaultAgentPool),
      'data-retention-policy': { data: row.dataRetentionPolicy },
      'owners-team': toOne('teams', row.ownersTeam, `/api/v2/teams/${row.ownersTeam}`),
      subscription: linkTo(`/api/v2/organizations/${row.name}/subscription`),
    },
    links: { self: `/api/v2/organizations/${row.name}` },
  };
};
