import { sql, type Sql, type Timestamp } from '#platform/kernel';
import { requireCurrentAccess, requireSiteAdmin, type Actor } from '#api/access';
import { buildLimit, toListPage, type ListPage, type ListRow, type PageRequest } from '#api/json-api';
import type { Database } from '#platform/postgres';
import { RUN_JOINS, selectRunColumns, type RunRow } from '../runs/runs.queries.js';

type AdministeredRunFilter = {
  readonly statuses: readonly string[];
  /** From and to, inclusive. */
  readonly from: Timestamp | null;
  readonly to: Timestamp | null;
  /** A part of the id of the run, or of the name of its workspace or organization. */
  readonly search: string | undefined;
};

type StatusCounts = Readonly<Record<string, number>>;

type AdministeredRuns = ListPage<RunRow> & {
  /** Runs by status, with all filters except for the one of statuses. */
  readonly statusCounts: StatusCounts;
};

const buildConditions = ({ from, to, search }: AdministeredRunFilter): readonly Sql[] => [
  ...(from === null ? [] : [sql`r.created_at >= ${from}`]),
  ...(to === null ? [] : [sql`r.created_at <= ${to}`]),
  ...(search
    ? [
        sql`(position(${search} in r.id) > 0 or position(lower(${search}) in lower(w.name)) > 0
             or position(lower(${search}) in lower(o.name)) > 0)`,
      ]
    : []),
];

/** Returns runs of all organizations, newest first: one page, the total count, and counts by status, in one statement. */
export const listAdministeredRuns = async (
  database: Database,
  actor: Actor,
  page: PageRequest,
  filter: AdministeredRunFilter,
): Promise<AdministeredRuns> => {
  await requireSiteAdmin(database, actor);
  const candidates = sql`runs r ${RUN_JOINS} where ${sql.and(buildConditions(filter))}`;
  const hasStatus = filter.statuses.length === 0 ? sql`true` : sql`r.status = any (${filter.statuses}::text[])`;
  const rows = await database.slowRows<ListRow<RunRow, { total: number; statusCounts: StatusCounts }>>(
    actor,
    sql.unkept(sql`
    select (select count(*) from ${candidates} and ${hasStatus}) as total,
           (select coalesce(jsonb_object_agg(counted.status, counted.runs), '{}')
              from (select r.status, count(*) as runs from ${candidates} group by r.status) counted) as "statusCounts", page.*
      from (select 1 where ${requireCurrentAccess(actor)}) allowed
      left join lateral (select ${selectRunColumns(actor)} from ${candidates} and ${hasStatus}
                          order by r.created_at desc, r.id desc ${buildLimit(page)}) page on true
     order by page."createdAt" desc, page.id desc`),
  );
  return { ...toListPage(rows), statusCounts: rows[0]?.statusCounts ?? {} };
};
