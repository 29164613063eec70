import { LOCK_ENDED_BY_FORCE, notFound, sql, type VisiblePrincipal, type Sql, type Timestamp } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import {
  requirePermission,
  selectGrantedWorkspaces,
  selectPermittedOrganization,
  isPermittedByRole,
  selectPermittedScopes,
  toPermittedPage,
  type Actor,
} from '#api/access';
import { buildLimit, toListPage, type ListPage, type ListRow, type PageRequest } from '#api/json-api';
import { selectVisiblePrincipal } from '#identity/people';
import { toFieldCode } from '../writing/history.field-codes.js';
import { endedLock, startedLock } from '../writing/versions.queries.js';
import { selectActor } from '../workspace-changes/workspace-changes.queries.js';
import { selectWorkspaceScope, type WorkspaceScope } from '../workspace-changes/workspace-scope.queries.js';

export type WorkspaceLockRow = {
  readonly id: string;
  readonly workspace: string;
  /** Null if the workspace was deleted. */
  readonly workspaceName: string | null;
  readonly holder: VisiblePrincipal;
  readonly reason: string;
  readonly lockedAt: Timestamp;
  /** These three are null while the workspace is locked. */
  readonly unlockedAt: Timestamp | null;
  readonly unlockedBy: VisiblePrincipal | null;
  readonly forced: boolean | null;
};

/**
 * Selects the columns of a lock: `l` is the version that began it, `ended` the version that ended it. A lock that is not
 * ended by force is ended by its holder.
 */
const selectLockColumns = (actor: Actor, organization: Sql): Sql => {
  const visible = (principal: string): Sql => selectVisiblePrincipal(actor, sql.raw(principal), organization);
  return sql`
    l.event as id, l.subject as workspace, w.name as "workspaceName", ${visible(`(l.data -> 'lock' -> 'holder')`)} as holder,
    l.data -> 'lock' ->> 'reason' as reason, l.since as "lockedAt", ended.since as "unlockedAt",
    case when ended.forced then ${visible('ended.actor')} when not ended.forced then
      ${visible(`(l.data -> 'lock' -> 'holder')`)} end as "unlockedBy", ended.forced`;
};

/**
 * Selects the version that ended the lock of the version `l`. If both were written before locks had marks, and are not
 * rebuilt yet, the table of locks contains whether it ended by force.
 */
const END_OF_LOCK = sql`
  select v.since, ${selectActor('v')} as actor,
         case when v.fields <> '?' then v.fields ~ ${toFieldCode(LOCK_ENDED_BY_FORCE)} else coalesce((
           select earlier.forced from history_locks earlier where earlier.organization = l.organization
              and earlier.locked_at = l.since and earlier.id = l.event), false) end as forced
    from history_versions v
   where v.subject = l.subject and (v.since, v.ordinal) > (l.since, l.ordinal) and ${endedLock('v')}
   order by v.since, v.ordinal limit 1`;

/** The kinds of holders of locks. */
export const LOCK_HOLDERS = ['users', 'teams', 'runs'] as const;
export type LockHolders = readonly (typeof LOCK_HOLDERS)[number][];

/** The table of locks has no holders. The lock of the workspace has one, and is never behind this table. */
const isLockedBy = (holders: LockHolders): Sql => sql`exists (
  select 1 from workspaces locked
   where locked.id = l.workspace and locked.lock -> 'holder' ->> 'type' = any (${holders}::text[]))`;

/**
 * Returns one page of the current locks that the caller can see, oldest first, and the total count, in one statement.
 */
export const listCurrentLocks = async (
  database: Database,
  actor: Actor,
  organizationName: string,
  { page, holders }: { readonly page: PageRequest; readonly holders: LockHolders | null },
): Promise<ListPage<WorkspaceLockRow>> => {
  const visible = sql`l.organization = owner.id and l.unlocked_at is null
    and (owner.whole or l.workspace in (${selectGrantedWorkspaces(actor)}))
    and ${holders === null ? sql`true` : isLockedBy(holders)}`;
  const rows = await database.slowRows<ListRow<WorkspaceLockRow, { total: number; owner: string }>>(
    actor,
    sql`
    select owner.id as owner, owner.total, page.*
      from (select owner.*, (select count(*) from history_locks l where ${visible}) as total
              from (select id, ${isPermittedByRole(actor, 'read-workspace')} as whole
                      from ${selectPermittedOrganization(actor, 'read-organization', organizationName)} offset 0) owner
            offset 0) owner
      left join lateral (
        select ${selectLockColumns(actor, sql`owner.id`)}
          from (select l.* from history_locks l where ${visible} order by l.locked_at, l.id ${buildLimit(page)}) held
         cross join lateral (
           select v.* from history_versions v
            where v.subject = held.workspace and v.since >= held.locked_at and ${startedLock('v')}
            order by v.since, v.ordinal limit 1) l
          left join workspaces w on w.id = l.subject
         cross join (select null::timestamptz as since, null::jsonb as actor, null::boolean as forced) ended) page on true
     order by page."lockedAt", page.id`,
  );
  return toPermittedPage(actor, 'read-organization', rows);
};

/** Returns all locks of a workspace, newest first, also of a deleted one. */
export const listLocksOf = async (
  database: Database,
  actor: Actor,
  workspace: string,
  page: PageRequest,
): Promise<ListPage<WorkspaceLockRow>> => {
  const rows = await database.slowRows<ListRow<WorkspaceLockRow, WorkspaceScope & { total: number }>>(
    actor,
    sql`
    select place.*, (select count(*) from history_versions v where v.subject = ${workspace} and ${startedLock('v')}) as total,
           page.*
      from ${selectPermittedScopes(actor, 'read-workspace-history', selectWorkspaceScope(actor, workspace))} place
      left join lateral (
        select ${selectLockColumns(actor, sql`place.organization`)}
          from (select v.* from history_versions v where v.subject = ${workspace} and ${startedLock('v')}
                 order by v.since desc, v.ordinal desc ${buildLimit(page)}) l
          left join lateral (${END_OF_LOCK}) ended on true
          left join workspaces w on w.id = l.subject) page on true
     order by page."lockedAt" desc, page.id desc`,
  );
  const [first] = rows;
  if (!first) throw notFound();
  requirePermission(actor, 'read-workspace-history', first);
  return toListPage(rows);
};
