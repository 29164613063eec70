import { may, type Identity } from '#access';
import { attributesOf, linkTo, toOne, type Resource } from '#json-api';
import type { OrganizationRow } from './organizations.queries.js';

/** An organization as every endpoint renders it. Its id is its name; the stable id is `external-id` (clients.md §3). */
export const organizationResource = (row: OrganizationRow, actor: Identity): Resource => {
  const place = { organization: row.id };
  const owner = may(actor, 'update-organization', place);
  const createsWorkspaces = may(actor, 'create-workspace', place);
  const { defaultAgentPool, ...settings } = row.settings;
  return {
    id: row.name,
    type: 'organizations',
    attributes: {
      name: row.name,
      'external-id': row.id,
      email: row.email,
      'created-at': row.createdAt,
      ...attributesOf(settings),
      'saml-enabled': false,
      'two-factor-conformant': true,
      'plan-expired': false,
      'plan-expires-at': null,
      'plan-is-trial': false,
      'plan-is-enterprise': true,
      'plan-identifier': row.featureSet,
      permissions: {
        'can-update': owner,
        'can-destroy': may(actor, 'delete-organization', place),
        'can-access-via-teams': true,
        'can-create-module': owner,
        'can-create-team': owner,
        'can-create-workspace': createsWorkspaces,
        'can-create-workspace-migration': createsWorkspaces,
        'can-create-project': may(actor, 'create-project', place),
        'can-manage-users': owner,
        'can-manage-subscription': owner,
        'can-manage-sso': owner,
        'can-update-oauth': owner,
        'can-update-sentinel': owner,
        'can-update-ssh-keys': owner,
        'can-update-api-token': may(actor, 'manage-organization-tokens', place),
        'can-traverse': true,
        'can-start-trial': false,
        'can-update-agent-pools': owner,
        'can-manage-tags': createsWorkspaces,
        'can-read-audit-trail': may(actor, 'read-audit-trail', place),
        'can-destroy-organization': may(actor, 'delete-organization', place),
      },
    },
    relationships: {
      'authentication-token': linkTo(`/api/v2/organizations/${row.name}/authentication-token`),
      'entitlement-set': {
        data: { id: row.id, type: 'entitlement-sets' },
        links: { related: `/api/v2/organizations/${row.name}/entitlement-set` },
      },
      'default-project': toOne('projects', row.defaultProject, `/api/v2/projects/${row.defaultProject}`),
      'default-agent-pool': toOne('agent-pools', defaultAgentPool),
      'data-retention-policy': { data: null },
      'owners-team': toOne('teams', row.ownersTeam, `/api/v2/teams/${row.ownersTeam}`),
      subscription: linkTo(`/api/v2/organizations/${row.name}/subscription`),
    },
    links: { self: `/api/v2/organizations/${row.name}` },
  };
};
