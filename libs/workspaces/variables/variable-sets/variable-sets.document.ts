import { toMany, toOne, type Resource } from '#api/json-api';
import type { VariableSetRow } from './variable-sets.queries.js';

/** Renders a variable set. `stacks` is always empty, and present because clients require it. */
export const renderVariableSet = (row: VariableSetRow): Resource => ({
  id: row.id,
  type: 'varsets',
  attributes: {
    name: row.name,
    description: row.description,
    global: row.global,
    priority: row.priority,
    'created-at': row.createdAt,
    'updated-at': row.updatedAt,
    'var-count': row.variables.length,
    'workspace-count': row.workspaces.length,
    'project-count': row.projects.length,
  },
  relationships: {
    organization: toOne('organizations', row.organizationName, `/api/v2/organizations/${row.organizationName}`),
    parent: row.project
      ? toOne('projects', row.project, `/api/v2/projects/${row.project}`)
      : toOne('organizations', row.organizationName, `/api/v2/organizations/${row.organizationName}`),
    vars: toMany('vars', row.variables),
    workspaces: toMany('workspaces', row.workspaces),
    projects: toMany('projects', row.projects),
    stacks: toMany('stacks', []),
  },
  links: { self: `/api/v2/varsets/${row.id}` },
});
