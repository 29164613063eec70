import { sql, type Sql } from '#kernel';
import { requireCurrentAccess, selectWorkspaceGrants, type Actor, type Grant } from '#access';

export type WorkspaceScope = { readonly organization: string; readonly grants: readonly Grant[] };

/**
 * Where a workspace is, or was until it was deleted, in one row; none where there never was one. Whatever it was then, what
 * teams have been given on it and on its project now is what counts: of one that is gone, nothing.
 */
export const selectWorkspaceScope = (actor: Actor, workspace: string): Sql => sql`
  select h.organization, ${selectWorkspaceGrants(actor, 'w')} as grants
    from history_versions h left join workspaces w on w.id = h.subject
   where h.subject = ${workspace} and h.ordinal = 1 and h.type = 'WorkspaceCreated' and ${requireCurrentAccess(actor)}`;
