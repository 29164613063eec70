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

/** Must be the expression of the index `workspaces_by_hash`. */
const HASH = sql.raw('(hashtext(w.id) & 2147483647)');

/** Whether executors can plan in the workspace `w`, and have something to compare. */
const IS_ASSESSABLE = sql`(${EXECUTION_MODE} <> 'local' and w.lock is null and w.resource_count > 0
  and w.settings ->> 'terraformVersion' !~ ${LACKS_REFRESH_ONLY}
  and exists (select 1 from agent_pools ap where ${SERVES_WORKSPACE}))`;

/** Whether the run `r` can change something: the speculative ones of pull requests say nothing about the resources. */
const CAN_CHANGE = sql`(${isNoAssessment('r')} and (r.options ->> 'planOnly')::boolean is not true)`;

/** Whether the last run of the workspace `w` that can change something ended well, one was applied, and none is open. */
const HAS_ENDED_WELL = sql`(
  coalesce((select r.status from runs r where r.workspace = w.id and ${CAN_CHANGE}
             order by r.created_at desc, r.id desc limit 1), '') in ('applied', 'planned_and_finished')
  and exists (select 1 from runs r where r.workspace = w.id and r.status = 'applied')
  and not exists (select 1 from runs r where r.workspace = w.id and ${CAN_CHANGE} and ${isOpen('r')}))`;

/** The row of `HAS_ASSESSMENTS` and `IS_ASSESSABLE`. */
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
             coalesce(${HAS_ASSESSMENTS} and ${IS_ASSESSABLE} and ${HAS_ENDED_WELL}
                      and exists (select 1 from runs r where r.workspace = w.id and r.created_at >= ${begun}::timestamptz)
                      and not exists (select 1 from runs a where a.workspace = w.id and ${isAssessment('a')}
                                                             and a.created_at >= ${since}::timestamptz)
                      and not exists (select 1 from runs a where a.workspace = w.id and ${isAssessment('a')}
                                                             and ${isOpen('a')}), false) as "isDue"
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
                                         or coalesce(${IS_ASSESSABLE} and ${HAS_ENDED_WELL}, false) is false)
     order by a.created_at, a.id limit ${limit}`);
