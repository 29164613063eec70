import { requireCurrentAccess, selectWorkspaceGrants, type Actor, type PermissionScope } from '#api/access';
import { sql, type Timestamp } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import { selectIsEarlierView } from '#storage/event-store';
import { EXECUTION_MODE } from '#workspaces/workspaces';
import { isAssessment, isNoAssessment, isOpen, SERVES_WORKSPACE } from '../runs/runs.queries.js';
import { HAS_ASSESSMENTS, isAssessmentOfSite } from '../runs/run-leases.queries.js';
import type { DueHashes } from './assessment-schedule.js';
import { assessmentResults } from './assessments.view.js';

/** Releases of terraform before 0.15.4 have no plans that only refresh. */
export const LACKS_REFRESH_ONLY = String.raw`^0\.(\d|1[0-4])\.|^0\.15\.[0-3]$`;

/** Assessments of one organization that wait for an executor. The job skips others of it until the next period. */
export const MAX_WAITING = 20;

/** Must be the expression of the index `workspaces_by_hash`. */
const HASH = sql.raw('(hashtext(w.id) & 2147483647)');

/** Whether the run `r` can change something: the speculative ones of pull requests say nothing about the resources. */
const CAN_CHANGE = sql`(${isNoAssessment('r')} and (r.options ->> 'planOnly')::boolean is not true)`;

/** Why a workspace cannot be assessed, with the sentence for callers. The first one that applies counts. */
export const OBSTACLES = {
  off: 'Assessments are off: enable them in the workspace or for the whole organization',
  local: 'Execution mode is local: executors do not plan in the workspace',
  busy: 'Workspace has a run that has not ended: it can change the resources',
  locked: 'Workspace is locked: unlock it first',
  empty: 'State has no resources to assess',
  oldTerraform: 'Terraform version is too old: 0.15.4 is the first that can be assessed',
  noExecutors: 'No agent pool executes the runs of the workspace',
  neverApplied: 'No run has been applied in the workspace',
  endedBadly:
    'Latest run failed, was canceled or discarded: the resources are assessed again after a run that ends well',
} as const;

/** Selects which of `OBSTACLES` the workspace `w` has; null if it can be assessed. Needs `OWNERS`. */
const OBSTACLE = sql`case
  when not ${HAS_ASSESSMENTS} then 'off'
  when ${EXECUTION_MODE} = 'local' then 'local'
  when exists (select 1 from runs r where r.workspace = w.id and ${CAN_CHANGE} and ${isOpen('r')}) then 'busy'
  when w.lock is not null then 'locked'
  when coalesce(w.resource_count, 0) = 0 then 'empty'
  when w.settings ->> 'terraformVersion' ~ ${LACKS_REFRESH_ONLY} then 'oldTerraform'
  when not exists (select 1 from agent_pools ap where ${SERVES_WORKSPACE}) then 'noExecutors'
  when not exists (select 1 from runs r where r.workspace = w.id and r.status = 'applied') then 'neverApplied'
  when coalesce((select r.status from runs r where r.workspace = w.id and ${CAN_CHANGE}
                  order by r.created_at desc, r.id desc limit 1), '') not in ('applied', 'planned_and_finished') then 'endedBadly'
  end`;

/** The rows that `OBSTACLE` reads. */
const OWNERS = sql.raw('join projects p on p.id = w.project join organizations o on o.id = w.organization');

/** A workspace whose assessment is due. */
export type DueAssessment = { readonly workspace: string; readonly organization: string };

type CheckedWorkspace = DueAssessment & { readonly hash: number; readonly isDue: boolean };

const PAGE_SIZE = 500;

/**
 * Yields the workspaces with these hashes that can be assessed and have had no assessment since `since`. The workspace must have had a
 * run after `begun`: the copies of a restored site, and settings that had no effect before an upgrade, start nothing by themselves.
 */
export async function* listDueAssessments(
  database: Database,
  { after, to }: DueHashes,
  { since, begun }: { readonly since: Timestamp; readonly begun: Timestamp },
): AsyncGenerator<DueAssessment> {
  let last: { readonly hash: number; readonly id: string } = { hash: after + 1, id: '' };
  for (;;) {
    const page = await database.rows<CheckedWorkspace>(sql`
      select w.id as workspace, w.organization, w.hash,
             (${OBSTACLE} is null
                      and exists (select 1 from runs r where r.workspace = w.id and r.created_at >= ${begun}::timestamptz)
                      and not exists (select 1 from runs a where a.workspace = w.id and ${isAssessment('a')}
                                                             and a.created_at >= ${since}::timestamptz)
                      and not exists (select 1 from runs a where a.workspace = w.id and ${isAssessment('a')}
                                                             and ${isOpen('a')})) as "isDue"
        from (select w.*, ${HASH} as hash from workspaces w
               where ${HASH} <= ${to}::integer and (${HASH}, w.id) > (${last.hash}::integer, ${last.id})
               order by ${HASH}, w.id limit ${PAGE_SIZE}) w ${OWNERS}
       order by w.hash, w.id`);
    yield* page.filter(({ isDue }) => isDue);
    const end = page.at(-1);
    if (!end || page.length < PAGE_SIZE) return;
    last = { hash: end.hash, id: end.workspace };
  }
}

/** Returns since when this site has assessed workspaces: from now on if it never has. A restored site begins again. */
export const readBegin = async (database: Database, now: Timestamp): Promise<Timestamp> => {
  const select = sql`select begun_at as at from runs.assessments_begun`;
  const stored = await database.row<{ at: Timestamp }>(select);
  if (stored) return stored.at;
  await database.transaction([
    sql`insert into runs.assessments_begun (begun_at) values (${now}::timestamptz) on conflict do nothing`,
  ]);
  return (await database.row<{ at: Timestamp }>(select))?.at ?? now;
};

/** Whether a process of a version without assessments runs, or the view of their results is not complete. */
export const isUpgrading = async (database: Database): Promise<boolean> => {
  const { name, version = 1 } = assessmentResults;
  const row = await database.row<{ isEarlier: boolean }>(sql`
    select ${selectIsEarlierView(name, version)} or coalesce(event_store.lowest_written_version(${name}) < ${version}, false) as "isEarlier"`);
  return row?.isEarlier ?? false;
};

/** Returns the number of assessments that wait for an executor, by organization. */
export const countWaiting = async (database: Database): Promise<Map<string, number>> => {
  const rows = await database.rows<{ organization: string; number: number }>(sql`
    select a.organization, count(*) as number from runs a
     where ${isAssessment('a')} and a.status = 'plan_queued' group by a.organization`);
  return new Map(rows.map(({ organization, number }) => [organization, number]));
};

/**
 * Returns the open assessments that nobody wants: all of them if `isOff`. Also returns those that should not begin, because no
 * executor has claimed them since `before`, or because their workspaces cannot be assessed any more.
 */
export const listOutdatedAssessments = (
  database: Database,
  { before, isOff, limit }: { readonly before: Timestamp; readonly isOff: boolean; readonly limit: number },
): Promise<readonly { readonly id: string }[]> =>
  database.rows<{ readonly id: string }>(sql`
    select a.id
      from (select * from runs waiting where ${isAssessment('waiting')} and waiting.status = 'plan_queued'
            union all
            select claimed.* from runs.leases l join runs claimed on claimed.id = l.run
             where l.slot < 0 and ${isOpen('claimed')} and claimed.cancel_requested_at is null) a
      join workspaces w on w.id = a.workspace ${OWNERS}
     where ${isOff}::boolean or not ${isAssessmentOfSite('a')}
        or a.status = 'plan_queued' and (a.created_at < ${before}::timestamptz
                                         or ${OBSTACLE} is not null)
     order by a.created_at, a.id limit ${limit}`);

/** A workspace in which somebody wants an assessment now. */
type RequestedWorkspace = PermissionScope & {
  readonly organization: string;
  readonly obstacle: keyof typeof OBSTACLES | null;
  /** The newest assessment of the workspace; null if it has had none. */
  readonly newest: { readonly id: string; readonly isOpen: boolean } | null;
};

export const findRequestedWorkspace = (
  database: Database,
  actor: Actor,
  workspace: string,
): Promise<RequestedWorkspace | undefined> =>
  database.row<RequestedWorkspace>(sql`
    select w.organization, ${selectWorkspaceGrants(actor, 'w')} as grants, ${OBSTACLE} as obstacle,
           (select jsonb_build_object('id', a.id, 'isOpen', ${isOpen('a')}) from runs a
             where a.workspace = w.id and ${isAssessment('a')} order by a.created_at desc, a.id desc limit 1) as newest
      from workspaces w ${OWNERS}
     where w.id = ${workspace} and ${requireCurrentAccess(actor)}`);
