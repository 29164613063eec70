import { can, type Actor } from '#api/access';
import { linkTo, toMany, toOne, type Relationship, type Resource } from '#api/json-api';
import { deriveTagBindingId } from '#organizations/tag-bindings';
import type { ProjectRow } from './projects.queries.js';

export type ProjectIncludes = ReadonlySet<string> | null | undefined;

const renderPermissions = (row: ProjectRow, actor: Actor): Record<string, boolean> => ({
  'can-read': true,
  'can-update': can(actor, 'update-project', row),
  'can-update-defaults': can(actor, 'update-project', row) && can(actor, 'change-project-execution', row),
  'can-destroy': can(actor, 'delete-project', row) && !row.isDefault,
  'can-create-workspace': can(actor, 'create-workspace', row),
  'can-move-workspace': can(actor, 'move-workspace', row),
  'can-move-stack': false,
  'can-deploy-no-code-modules': false,
  'can-read-teams': can(actor, 'read-project-access', row),
  'can-manage-tags': can(actor, 'update-project', row),
  'can-manage-teams': can(actor, 'manage-project-access', row),
  'can-manage-in-hcp': false,
});

/** Renders only a link, unless the bindings are included: then clients find them by their identifiers. */
const renderEffectiveBindings = ({ id, tags }: ProjectRow, includes: ProjectIncludes): Relationship => {
  const link = linkTo(`/api/v2/projects/${id}/effective-tag-bindings`);
  if (!includes?.has('effective_tag_bindings')) return link;
  const ids = tags.map(({ key }) => deriveTagBindingId(id, key));
  return { ...toMany('effective-tag-bindings', ids), ...link };
};

export const renderProject = (row: ProjectRow, actor: Actor, includes?: ProjectIncludes): Resource => {
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
      'stacks-default-execution-mode': row.settings.stacksDefaultExecutionMode,
      // Clients know each flag by two names. The pool always comes from the same source as the mode.
      'setting-overwrites': {
        'default-execution-mode': own,
        'default-agent-pool': own,
        'execution-mode': own,
        'agent-pool': own,
      },
      permissions: renderPermissions(row, actor),
    },
    relationships: {
      organization: toOne('organizations', row.organizationName, `/api/v2/organizations/${row.organizationName}`),
      'default-agent-pool': toOne('agent-pools', pool),
      'tag-bindings': linkTo(`/api/v2/projects/${row.id}/tag-bindings`),
      'effective-tag-bindings': renderEffectiveBindings(row, includes),
    },
    links: { self: `/api/v2/projects/${row.id}` },
  };
};
