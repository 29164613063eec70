import { formatTimestamp, notFound, sql, type Sql } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import {
  requirePermission,
  requirePermittedRow,
  requireCurrentAccess,
  selectGrantedWorkspaces,
  selectPermittedScopes,
  type Actor,
  type Grant,
} from '#api/access';
import type { CalendarDays } from '#api/json-api';
import { RUN_MEASURE_COLUMNS } from '../runs/runs.metrics.js';
import { selectOrganizationOfRuns } from '../runs/run-lists.queries.js';
import { isNoAssessment, selectRunGrants } from '../runs/runs.queries.js';
import type { RunCountRow } from './run-statistics.js';

type Nullable<T> = { readonly [K in keyof T]: T[K] | null };
type OwnedCountRow = Nullable<RunCountRow> & { readonly owner: string };

/** Selects the numbers of runs by day and status. The runs are found by the index of the scope, which has their times. */
const selectCounts = ({ bounds }: CalendarDays, isInScope: Sql): Sql => {
  const times = bounds.map((time) => formatTimestamp(time));
  return sql`
    select day, status, count(*) as runs, count(plan_ms) as plans, coalesce(sum(plan_ms), 0)::float8 as "planMs",
           count(apply_ms) as applies, coalesce(sum(apply_ms), 0)::float8 as "applyMs"
      from (select width_bucket(r.created_at, ${times}::timestamptz[]) - 1 as day, r.status, ${RUN_MEASURE_COLUMNS}
              from runs r
             where ${isInScope} and ${isNoAssessment('r')} and r.created_at >= ${times.at(0)}::timestamptz and r.created_at < ${times.at(-1)}::timestamptz) measured
     group by day, status`;
};

const hasCount = <R extends OwnedCountRow>(row: R): row is R & RunCountRow => row.day !== null;

/** Counts the runs of an organization that the caller may read, in one statement. */
export const countOrganizationRuns = async (
  database: Database,
  actor: Actor,
  organization: string,
  days: CalendarDays,
): Promise<readonly RunCountRow[]> => {
  const isReadable = sql`r.organization = owner.id
    and (owner.whole or r.workspace in (${selectGrantedWorkspaces(actor)}))`;
  const rows = await database.slowRows<OwnedCountRow>(
    actor,
    sql`
    select owner.id as owner, counted.*
      from ${selectOrganizationOfRuns(organization, actor)} owner
      left join lateral (${selectCounts(days, isReadable)}) counted on true`,
  );
  const [first] = rows;
  if (!first) throw notFound();
  requirePermission(actor, 'read-organization', { organization: first.owner });
  return rows.filter(hasCount);
};

/** Counts the runs of a workspace in one statement. */
export const countWorkspaceRuns = async (
  database: Database,
  actor: Actor,
  workspace: string,
  days: CalendarDays,
): Promise<readonly RunCountRow[]> => {
  const workspaces = sql`
    select w.id, w.organization, ${selectRunGrants(actor)} as grants from workspaces w
     where w.id = ${workspace} and ${requireCurrentAccess(actor)}`;
  const rows = await database.slowRows<OwnedCountRow & { readonly ownerGrants: readonly Grant[] }>(
    actor,
    sql`
    select target.organization as owner, target.grants as "ownerGrants", counted.*
      from ${selectPermittedScopes(actor, 'read-runs', workspaces)} target
      left join lateral (${selectCounts(days, sql`r.workspace = target.id`)}) counted on true`,
  );
  const [first] = rows;
  requirePermittedRow(actor, 'read-runs', first && { organization: first.owner, grants: first.ownerGrants });
  return rows.filter(hasCount);
};
