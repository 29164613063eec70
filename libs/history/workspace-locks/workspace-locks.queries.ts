import { notFound, sql, type VisiblePrincipal, type Sql, type Timestamp } from '#kernel';
import type { Database } from '#postgres';
import {
  requirePermission,
  selectGrantedWorkspaces,
  selectPermittedOrganization,
  isPermittedByRole,
  selectPermittedScopes,
  type Actor,
} from '#access';
import { buildLimit, toListPage, type ListPage, type ListRow, type PageRequest } from '#json-api';
import { selectVisiblePrincipal } from '#people';
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

const selectVisibleHolder = (actor: Actor, somebody: string): Sql =>
  selectVisiblePrincipal(actor, sql.raw(somebody), sql.raw('l.organization'));

const selectColumns = (actor: Actor): Sql => sql`
  l.id, l.workspace, w.name as "workspaceName", ${selectVisibleHolder(actor, 'l.holder')} as holder, l.reason,
  l.locked_at as "lockedAt", l.unlocked_at as "unlockedAt", ${selectVisibleHolder(actor, 'l.unlocked_by')} as "unlockedBy",
  l.forced`;

/**
 * Returns one page of the current locks that the caller can see, oldest first, and the total count, in one statement.
 */
export const listCurrentLocks = async (
  database: Database,
  actor: Actor,
  organizationName: string,
  page: PageRequest,
): Promise<ListPage<WorkspaceLockRow>> => {
  const visible = sql`l.organization = owner.id and l.unlocked_at is null
    and (owner.whole or l.workspace in (${selectGrantedWorkspaces(actor)}))`;
  const rows = await database.slowRows<ListRow<WorkspaceLockRow, { total: number; owner: string }>>(
    actor,
    sql`
    select owner.id as owner, (select count(*) from history_locks l where ${visible}) as total, page.*
      from (select id, ${isPermittedByRole(actor, 'read-workspace')} as whole
              from ${selectPermittedOrganization(actor, 'read-organization', organizationName)} offset 0) owner
      left join lateral (
        select ${selectColumns(actor)} from history_locks l left join workspaces w on w.id = l.workspace
         where ${visible} order by l.locked_at, l.id ${buildLimit(page)}) page on true
     order by page."lockedAt", page.id`,
  );
  const [first] = rows;
  if (!first) throw notFound();
  requirePermission(actor, 'read-organization', { organization: first.owner });
  return toListPage(rows);
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
    select place.*, (select count(*) from history_locks where workspace = ${workspace}) as total, page.*
      from ${selectPermittedScopes(actor, 'read-workspace-history', selectWorkspaceScope(actor, workspace))} place
      left join lateral (
        select ${selectColumns(actor)} from history_locks l left join workspaces w on w.id = l.workspace
         where l.workspace = ${workspace} order by l.locked_at desc, l.id desc ${buildLimit(page)}) page on true
     order by page."lockedAt" desc, page.id desc`,
  );
  const [first] = rows;
  if (!first) throw notFound();
  requirePermission(actor, 'read-workspace-history', first);
  return toListPage(rows);
};
