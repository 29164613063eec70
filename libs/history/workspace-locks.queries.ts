import { notFound, sql, type ShownSomebody, type Sql, type Timestamp } from '#kernel';
import type { Database } from '#event-store';
import { demand, grantedWorkspaces, organizationFor, organizationsWhere, permittedPlaces, type Actor } from '#access';
import { limitOf, listedIn, type Listed, type Page } from '#json-api';
import { shownSomebody } from '#people';
import { placeOf, type WorkspacePlace } from './places.queries.js';

/** Of one holder, from when to when. */
export type WorkspaceLockRow = {
  readonly id: string;
  readonly workspace: string;
  /** Null where the workspace has been deleted. */
  readonly workspaceName: string | null;
  readonly holder: ShownSomebody;
  readonly reason: string;
  readonly lockedAt: Timestamp;
  /** All three null while it is held. */
  readonly unlockedAt: Timestamp | null;
  readonly unlockedBy: ShownSomebody | null;
  readonly forced: boolean | null;
};

const shown = (actor: Actor, somebody: string): Sql =>
  shownSomebody(actor, sql.raw(somebody), sql.raw('l.organization'));

const columns = (actor: Actor): Sql => sql`
  l.id, l.workspace, w.name as "workspaceName", ${shown(actor, 'l.holder')} as holder, l.reason,
  l.locked_at as "lockedAt", l.unlocked_at as "unlockedAt", ${shown(actor, 'l.unlocked_by')} as "unlockedBy",
  l.forced`;

/** Locks that are held now, the oldest first: one page of those that the caller sees and the count of all, in one statement. */
export const listHeldLocks = async (
  database: Database,
  actor: Actor,
  organizationName: string,
  page: Page,
): Promise<Listed<WorkspaceLockRow>> => {
  const seen = sql`l.organization = owner.id and l.unlocked_at is null
    and (owner.whole or l.workspace in (${grantedWorkspaces(actor)}))`;
  const found = await database.slowRows<WorkspaceLockRow & { total: number; owner: string }>(
    actor,
    sql`
    select owner.id as owner, (select count(*) from history_locks l where ${seen}) as total, page.*
      from (select id, ${organizationsWhere(actor, 'read-workspace')} as whole
              from ${organizationFor(actor, 'read-organization', organizationName)} offset 0) owner
      left join lateral (
        select ${columns(actor)} from history_locks l left join workspaces w on w.id = l.workspace
         where ${seen} order by l.locked_at, l.id ${limitOf(page)}) page on true
     order by page."lockedAt", page.id`,
  );
  const [first] = found;
  if (!first) throw notFound();
  demand(actor, 'read-organization', { organization: first.owner });
  return listedIn(found);
};

/** All that there ever were of a workspace, the newest first; also of one that has been deleted. */
export const listLocksOf = async (
  database: Database,
  actor: Actor,
  workspace: string,
  page: Page,
): Promise<Listed<WorkspaceLockRow>> => {
  const found = await database.slowRows<WorkspaceLockRow & WorkspacePlace & { total: number }>(
    actor,
    sql`
    select place.*, (select count(*) from history_locks where workspace = ${workspace}) as total, page.*
      from ${permittedPlaces(actor, 'read-workspace-history', placeOf(actor, workspace))} place
      left join lateral (
        select ${columns(actor)} from history_locks l left join workspaces w on w.id = l.workspace
         where l.workspace = ${workspace} order by l.locked_at desc, l.id desc ${limitOf(page)}) page on true
     order by page."lockedAt" desc, page.id desc`,
  );
  const [first] = found;
  if (!first) throw notFound();
  demand(actor, 'read-workspace-history', first);
  return listedIn(found);
};
