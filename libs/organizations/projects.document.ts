import { may, type Actor } from '#access';
import { linkTo, toOne, type Resource } from '#json-api';
import type { ProjectRow } from './projects.queries.js';

/** A project as every endpoint renders it. */
export const projectResource = (row: ProjectRow, actor: Actor): Resource => {
  const own = row.settings.defaultExecutionMode !== null;
  const mode = row.settings.defaultExecutionMode ?? row.inherited.executionMode;
  const pool = own ? row.settings.defaultAgentPoolId : row.inherited.agentPoolId;
  return {
    id: row.id,
    type: 'projects',
    attributes: {
      name: row.name,
      description: row.description,
      'created-at': row.createdAt,
      'is-unified': false,
      'workspace-count': row.workspaceCount,
      'team-count': row.teamCount,
      'stack-count': 0,
      'auto-destroy-activity-duration': row.settings.autoDestroyActivityDuration,
      'default-execution-mode': mode,
      // Clients know the flags by two names each; the pool goes with the mode.
      'setting-overwrites': {
        'default-execution-mode': own,
        'default-agent-pool': own,
        'execution-mode': own,
        'agent-pool': own,
      },
      permissions: {
        'can-read': true,
        'can-update': may(actor, 'update-project', row),
        'can-destroy': may(actor, 'delete-project', row) && !row.isDefault,
        'can-create-workspace': may(actor, 'create-workspace', row),
        'can-move-workspace': may(actor, 'move-workspace', row),
        'can-move-stack': false,
        'can-deploy-no-code-modules': false,
        'can-read-teams': may(actor, 'read-project-access', row),
        'can-manage-tags': may(actor, 'update-project', row),
        'can-manage-teams': may(actor, 'manage-project-access', row),
        'can-manage-in-hcp': false,
      },
    },
    relationships: {
      organization: toOne('organizations', row.organizationName, `/api/v2/organizations/${row.organizationName}`),
      'default-agent-pool': toOne('agent-pools', pool),
      'tag-bindings': linkTo(`/api/v2/projects/${row.id}/tag-bindings`),
      'effective-tag-bindings': linkTo(`/api/v2/projects/${row.id}/effective-tag-bindings`),
    },
    links: { self: `/api/v2/projects/${row.id}` },
  };
};
