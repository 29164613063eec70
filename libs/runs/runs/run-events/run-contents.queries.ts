import { notFound, sql, type Sql } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import { requireCurrentAccess, requirePermission, selectWorkspaceGrants, type Actor, type Grant } from '#api/access';

type RunContents<T> = { readonly organization: string; readonly grants: readonly Grant[]; readonly contents: T };

/** Returns what `contents` selects of a run, and what decides about access; throws not-found if the caller may not read runs of its workspace. */
export const readScopedForRun = async <T>(
  database: Database,
  actor: Actor,
  run: Sql,
  contents: Sql,
): Promise<RunContents<T>> => {
  const row = await database.row<RunContents<T>>(sql`
    select r.organization, ${selectWorkspaceGrants(actor, 'w')} as grants, ${contents} as contents
      from runs r join workspaces w on w.id = r.workspace where r.id = ${run} and ${requireCurrentAccess(actor)}`);
  if (!row) throw notFound();
  requirePermission(actor, 'read-runs', row);
  return row;
};

/** Returns what `contents` selects of a run; throws not-found if the caller may not read runs of its workspace. */
export const readForRun = async <T>(database: Database, actor: Actor, run: Sql, contents: Sql): Promise<T> =>
  (await readScopedForRun<T>(database, actor, run, contents)).contents;
