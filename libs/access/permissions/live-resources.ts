import type { IdSource, LiveResource, ScopeRule } from '#kernel';
import type { Permission } from './permissions.js';

type Scope = ScopeRule & { readonly permission?: Permission };

/** Live messages about a resource of this JSON:API type. `id`: where its events have its id. */
export const onResource =
  (type: string, scope: Scope, id: IdSource = 'stream'): LiveResource =>
  (word) => ({ word, resource: { type, id }, scope });

/** Live messages for all members of the organization that have the permission. */
export const inOrganization = (type: string, permission: Permission): LiveResource =>
  onResource(type, { in: 'organization', permission });

/** Live messages for callers that have the permission in the workspace whose id is there. */
export const inWorkspace = (
  type: string,
  permission: Permission,
  workspace: IdSource = { first: 'workspace' },
): LiveResource => onResource(type, { in: 'workspace', id: workspace, permission });
