import { sql, type Sql } from '#platform/kernel';
import { IS_CREATION } from '../writing/versions.queries.js';
import { requireCurrentAccess, selectWorkspaceGrants, type Actor, type Grant } from '#api/access';

export type WorkspaceScope = { readonly organization: string; readonly grants: readonly Grant[] };

/**
 * Selects the scope of a workspace in one row, also after its deletion; no row if it never existed. Grants are the
 * present ones on the workspace and its project; a deleted workspace has none.
 */
export const selectWorkspaceScope = (actor: Actor, workspace: string): Sql => sql`
  select h.organization, ${selectWorkspaceGrants(actor, 'w')} as grants
    from history_versions h left join workspaces w on w.id = h.subject
   where h.subject = ${workspace} and ${IS_CREATION} and h.type = 'WorkspaceCreated' and ${requireCurrentAccess(actor)}`;
