import type { IdSource, LiveResource, ScopeRule } from '#platform/kernel';
import type { Permission } from './permissions.js';

type Scope = ScopeRule & { readonly permission?: Permission };

/** Returns the rule for live messages about a resource of this JSON:API type. `id` is where its events contain its id. */
export const onResource =
  (type: string, scope: Scope, id: IdSource = 'stream'): LiveResource =>
  (word) => ({ word, resource: { type, id }, scope });

/** Returns the rule for live messages to all members of the organization that have the permission. */
export const inOrganization = (type: string, permission: Permission): LiveResource =>
  onResource(type, { in: 'organization', permission });

/** Returns the rule for live messages to callers that have the permission in a workspace. `workspace` is where its id is. */
export const inWorkspace = (
  type: string,
  permission: Permission,
  workspace: IdSource = { first: 'workspace' },
): LiveResource => onResource(type, { in: 'workspace', id: workspace, permission });
