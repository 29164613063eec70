import { sql, type Sql, type Timestamp } from '#platform/kernel';
import { requireCurrentAccess, requireSiteAdmin, type Actor } from '#api/access';
import { buildLimit, toListPage, type ListPage, type ListRow, type PageRequest } from '#api/json-api';
import type { Database } from '#platform/postgres';
import { isNoAssessment, isOpen, RUN_JOINS, selectRunColumns, type RunRow } from '../runs/runs.queries.js';

type AdministeredRunFilter = {
  readonly statuses: readonly string[];
  /** From and to, inclusive. */
  readonly from: Timestamp | null;
  readonly to: Timestamp | null;
  /** A part of the id of the run, or of the name of its workspace or organization. */
  readonly search: string | undefined;
};

type StatusCounts = Readonly<Record<string, number>>;

/** The runs of an organization on which executors work, and those that wait for one. */
type OrganizationWork = {
  readonly organization: string;
  readonly running: number;
  readonly waiting: number;
  /** Since when the run that waits longest has waited; null if none waits. */
  readonly waitingSince: Timestamp | null;
};

export type SiteExecutorWork = {
  readonly running: number;
  readonly waiting: number;
  /** Those with the most waiting runs first. */
  readonly organizations: readonly OrganizationWork[];
};

type AdministeredRuns = ListPage<RunRow> & {
  /** Of all organizations, without filters. */
  readonly work: SiteExecutorWork;
  /** Runs by status, with all filters except for the one of statuses. */
  readonly statusCounts: StatusCounts;
};

const buildConditions = ({ from, to, search }: AdministeredRunFilter): readonly Sql[] => [
  isNoAssessment('r'),
  ...(from === null ? [] : [sql`r.created_at >= ${from}`]),
  ...(to === null ? [] : [sql`r.created_at <= ${to}`]),
  ...(search
    ? [
        sql`(position(${search} in r.id) > 0 or position(lower(${search}) in lower(w.name)) > 0
             or position(lower(${search}) in lower(o.name)) > 0)`,
      ]
    : []),
];

const MAX_ORGANIZATIONS = 100;

const NO_WORK: SiteExecutorWork = { running: 0, waiting: 0, organizations: [] };

/** The work of executors as a column of a statement. */
const SELECT_WORK = sql`(
  select jsonb_build_object(
           'running', coalesce(sum(work.running), 0), 'waiting', coalesce(sum(work.waiting), 0),
           'organizations', coalesce(jsonb_agg(
             jsonb_build_object('organization', o.name, 'running', work.running, 'waiting', work.waiting,
                                'waitingSince', work.waiting_since)
             order by work.place) filter (where work.place <= ${MAX_ORGANIZATIONS}), '[]'))
    from (select counted.*, row_number() over (order by counted.waiting desc, counted.running desc, counted.organization) as place
            from (select r.organization,
                         count(*) filter (where r.status in ('planning', 'applying')) as running,
                         count(*) filter (where r.status in ('plan_queued', 'apply_queued')) as waiting,
                         min(case when r.status in ('plan_queued', 'apply_queued') then r.reached ->> r.status end) as waiting_since
                    from runs r
                   where ${isNoAssessment('r')} and ${isOpen('r')} and r.status in ('plan_queued', 'planning', 'apply_queued', 'applying')
                   group by r.organization) counted) work
    join organizations o on o.id = work.organization)`;

/** Returns runs of all organizations, newest first: one page and all counts, in one statement. */
export const listAdministeredRuns = async (
  database: Database,
  actor: Actor,
  page: PageRequest,
  filter: AdministeredRunFilter,
): Promise<AdministeredRuns> => {
  await requireSiteAdmin(database, actor);
  const candidates = sql`runs r ${RUN_JOINS} where ${sql.and(buildConditions(filter))}`;
  const hasStatus = filter.statuses.length === 0 ? sql`true` : sql`r.status = any (${filter.statuses}::text[])`;
  type Counts = { total: number; statusCounts: StatusCounts; work: SiteExecutorWork };
  const rows = await database.slowRows<ListRow<RunRow, Counts>>(
    actor,
    sql.unkept(sql`
    select (select count(*) from ${candidates} and ${hasStatus}) as total,
           (select coalesce(jsonb_object_agg(counted.status, counted.runs), '{}')
              from (select r.status, count(*) as runs from ${candidates} group by r.status) counted) as "statusCounts",
           ${SELECT_WORK} as work, page.*
      from (select 1 where ${requireCurrentAccess(actor)}) allowed
      left join lateral (select ${selectRunColumns(actor)} from ${candidates} and ${hasStatus}
                          order by r.created_at desc, r.id desc ${buildLimit(page)}) page on true
     order by page."createdAt" desc, page.id desc`),
  );
  const { statusCounts = {}, work = NO_WORK } = rows[0] ?? {};
  return { ...toListPage(rows), statusCounts, work };
};
