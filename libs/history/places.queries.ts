import { sql, type Sql } from '#kernel';
import { fresh, grantsOnWorkspace, type Actor, type Grant } from '#access';

export type WorkspacePlace = { readonly organization: string; readonly grants: readonly Grant[] };

/**
 * Where a workspace is, or was until it was deleted, in one row; none where there never was one. Whatever it was then, what
 * teams have been given on it and on its project now is what counts: of one that is gone, nothing.
 */
export const placeOf = (actor: Actor, workspace: string): Sql => sql`
  select h.organization, ${grantsOnWorkspace(actor, 'w')} as grants
    from history_versions h left join workspaces w on w.id = h.subject
   where h.subject = ${workspace} and h.ordinal = 1 and h.type = 'WorkspaceCreated' and ${fresh(actor)}`;
