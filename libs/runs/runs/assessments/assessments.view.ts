import {
  notFound,
  selectJsonTimestamp,
  sql,
  type OrganizationDeleted,
  type Projection,
  type Sql,
  type Timestamp,
  type WorkspaceDeleted,
} from '#platform/kernel';
import type { Database } from '#platform/postgres';
import {
  isGrantedWorkspace,
  requireCurrentAccess,
  requirePermission,
  requirePermittedRow,
  selectWorkspaceGrants,
  type Actor,
  type PermissionScope,
} from '#api/access';
import { buildLimit, toListPage, type ListPage, type ListRow, type PageRequest } from '#api/json-api';
import { ASSESSMENT, type AssessedCounts } from '../runs/run-event.js';
import { selectOrganizationOfRuns } from '../runs/run-lists.queries.js';
import { isAssessment, isOpen } from '../runs/runs.queries.js';
import { OLD_EXECUTOR, type AssessmentEvent, type PriorResult } from './assessment.js';

export const assessmentResults: Projection<AssessmentEvent | WorkspaceDeleted | OrganizationDeleted> = {
  name: 'assessment_results',
  version: 1,
  tables: ['assessment_results'],
  on: {
    AssessmentRecorded: (data, { stream, organization, time }) => sql`
      insert into assessment_results
        (id, workspace, organization, run, succeeded, drifted, counts, error_message, drifted_since, checks_failing_since,
         created_at)
      values (${stream}, ${data.workspace}, ${organization}, ${data.run}, ${data.succeeded},
              ${data.counts.resourcesDrifted > 0}, ${sql.json(data.counts)}, ${data.errorMessage}, ${data.driftedSince},
              ${data.checksFailingSince}, ${time})`,
    WorkspaceDeleted: (_, { stream }) => sql`delete from assessment_results where workspace = ${stream}`,
    OrganizationDeleted: (_, { stream }) => sql`delete from assessment_results where organization = ${stream}`,
  },
};

export type AssessmentRow = PermissionScope & {
  readonly id: string;
  readonly workspace: string;
  readonly workspaceName: string;
  readonly run: string;
  readonly succeeded: boolean;
  readonly drifted: boolean;
  readonly counts: AssessedCounts;
  readonly errorMessage: string | null;
  /** Since when it has drifted. */
  readonly driftedAt: Timestamp | null;
  readonly createdAt: Timestamp;
};

const selectColumns = (actor: Actor): Sql => sql`
  a.id, a.workspace, w.name as "workspaceName", a.organization, a.run, a.succeeded, a.drifted, a.counts, a.error_message as "errorMessage",
  a.drifted_since as "driftedAt", a.created_at as "createdAt", ${selectWorkspaceGrants(actor, 'w')} as grants`;

const FROM = sql.raw('from assessment_results a join workspaces w on w.id = a.workspace');

export const selectAssessmentsByIds = (ids: Sql, actor: Actor): Sql =>
  sql`select ${selectColumns(actor)} ${FROM} where a.id = any (${ids}) order by a.id`;

export const findAssessment = async (database: Database, actor: Actor, id: string): Promise<AssessmentRow> => {
  const row = await database.row<AssessmentRow>(
    sql`select ${selectColumns(actor)} ${FROM} where a.id = ${id} and ${requireCurrentAccess(actor)}`,
  );
  return requirePermittedRow(actor, 'read-runs', row);
};

/** Returns the newest result of a workspace. Throws not-found if it has none. */
export const findCurrentAssessment = async (
  database: Database,
  actor: Actor,
  workspace: string,
): Promise<AssessmentRow> => {
  const row = await database.row<AssessmentRow>(sql`
    select ${selectColumns(actor)} ${FROM} where w.id = ${workspace} and ${requireCurrentAccess(actor)}
     order by a.created_at desc, a.id desc limit 1`);
  return requirePermittedRow(actor, 'read-runs', row);
};

/**
 * Returns the newest result of each workspace of the organization whose runs the caller may read: first those that have drifted for
 * the longest time. One page and the total count in one statement.
 */
export const listCurrentAssessments = async (
  database: Database,
  actor: Actor,
  organizationName: string,
  page: PageRequest,
): Promise<ListPage<AssessmentRow>> => {
  const candidates = sql`
    workspaces w cross join lateral (select * from assessment_results newest where newest.workspace = w.id
                                      order by newest.created_at desc, newest.id desc limit 1) a
     where w.organization = owner.id and (owner.whole or ${isGrantedWorkspace(actor, 'w')})`;
  const rows = await database.slowRows<ListRow<AssessmentRow, { readonly total: number; readonly owner: string }>>(
    actor,
    sql`
    select owner.id as owner, (select count(*) from ${candidates}) as total, page.*
      from ${selectOrganizationOfRuns(organizationName, actor)} owner
      left join lateral (select ${selectColumns(actor)} from ${candidates}
                          order by a.drifted_since, a.created_at desc, a.id ${buildLimit(page)}) page on true
     order by page."driftedAt", page."createdAt" desc, page.id`,
  );
  const [first] = rows;
  if (!first) throw notFound();
  requirePermission(actor, 'read-organization', { organization: first.owner });
  return toListPage(rows);
};

/** The plan of an assessment that has ended, with what its result needs. */
type EndedAssessment = {
  readonly run: string;
  readonly workspace: string;
  readonly organization: string;
  readonly organizationVersion: number;
  readonly workspaceVersion: number;
  readonly isPlanned: boolean;
  readonly assessed: AssessedCounts | null;
  readonly errorMessage: string | null;
  readonly prior: PriorResult | null;
};

/** Whether the plan of the assessment has ended by itself. */
export const hasResult = (alias: string): Sql => sql.raw(`${alias}.status in ('planned_and_finished', 'errored')`);

/** Returns the assessment; undefined if its result is recorded, if it was canceled, or if its workspace was deleted. */
export const findEndedAssessment = (database: Database, run: string): Promise<EndedAssessment | undefined> =>
  database.row<EndedAssessment>(sql`
    select r.id as run, r.workspace, r.organization, so.version as "organizationVersion", sw.version as "workspaceVersion",
           r.status = 'planned_and_finished' as "isPlanned", r.assessed,
           (select e.description from run_events e where e.run = r.id and e.action = 'errored'
             order by e.version desc limit 1) as "errorMessage",
           (select jsonb_build_object('succeeded', a.succeeded, 'isOldExecutor', coalesce(a.error_message = ${OLD_EXECUTOR}, false),
                                      'driftedSince', ${selectJsonTimestamp('a.drifted_since')},
                                      'checksFailingSince', ${selectJsonTimestamp('a.checks_failing_since')})
              from assessment_results a where a.workspace = r.workspace
             order by a.created_at desc, a.id desc limit 1) as prior
      from runs r join workspaces w on w.id = r.workspace
      join event_store.streams so on so.stream = r.organization join event_store.streams sw on sw.stream = r.workspace
     where r.id = ${run} and ${hasResult('r')}
       and not exists (select 1 from assessment_results a where a.workspace = r.workspace and a.run = r.id)`);

/** Selects those of the runs that are plans of assessments that have ended. */
export const selectEndedAssessments = (runs: readonly string[]): Sql => sql`
  select id from runs
   where id = any (${runs}::text[]) and source = ${ASSESSMENT} and kept_since is not null`;

/**
 * Selects the assessments that have not ended, in workspaces of these runs that have a run which can change something. `cause`:
 * one of the runs.
 */
export const selectOvertakenAssessments = (runs: readonly string[]): Sql => sql`
  select a.id, min(r.id) as cause
    from runs r join runs a on a.workspace = r.workspace and ${isAssessment('a')} and ${isOpen('a')}
   where r.id = any (${runs}::text[]) and a.cancel_requested_at is null
     and exists (select 1 from runs other
                  where other.workspace = a.workspace and ${isOpen('other')} and (other.queues or other.operation = 'save_plan'))
   group by a.id`;
