import { acceptsPhase, selectPoolCapacity } from '#organizations/agents';
import { sql, type Sql, type Timestamp } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import { usesAllSlots } from '../runs/run-leases.queries.js';
import { isNoAssessment, RUN_JOINS, selectRunsInReach, SERVES_WORKSPACE } from '../runs/runs.queries.js';

/** The number of phases on which executors of a pool work. */
const countLeases = (pool: string): Sql => sql`(
  select count(*) from runs.leases l join runs claimed on claimed.id = l.run
   where coalesce(claimed.apply_execution, claimed.plan_execution) ->> 'pool' = ${sql.raw(pool)})`;

/**
 * Selects one health assessment for each of the runs that waits for an executor while all executors of its pools are busy: the
 * newest ones on which these executors work. `cause`: the run.
 */
export const selectDisplacedAssessments = (runs: readonly string[]): Sql => sql`
  with serving as (
    select r.id as run, ap.id as pool,
           bool_or(${countLeases('ap.id')} < ${selectPoolCapacity('ap.id')}) over (partition by r.id) as has_room
      from runs r ${RUN_JOINS} join agent_pools ap on ${SERVES_WORKSPACE}
     where r.id = any (${runs}::text[]) and r.status in ('plan_queued', 'apply_queued') and ${isNoAssessment('r')}),
  waiting as (
    select run, pool, row_number() over (partition by pool order by run) as place from serving where not has_room),
  assessed as (
    select a.id, a.plan_execution ->> 'pool' as pool,
           row_number() over (partition by a.plan_execution ->> 'pool' order by a.created_at desc, a.id) as place
      from runs.leases l join runs a on a.id = l.run
     where l.slot < 0 and a.cancel_requested_at is null)
  select assessed.id, min(waiting.run) as cause
    from waiting join assessed on assessed.pool = waiting.pool and assessed.place = waiting.place
   group by assessed.id`;

const WAITING_PHASE = sql`case r.status when 'apply_queued' then 'apply' else 'plan' end`;

/**
 * Returns the newest health assessment of each pool in which a run has waited for an executor since `since` or longer, whatever
 * capacity the pool seems to have: executors may have been killed, or may accept another phase. The executor of the assessment must
 * accept the phase for which the run waits.
 */
export const listDisplacedAssessments = (
  database: Database,
  siteRunsPerOrganization: number | null,
  since: Timestamp,
  limit: number,
): Promise<readonly { readonly id: string }[]> =>
  database.rows<{ readonly id: string }>(sql`
    select distinct on (a.pool) a.id
      from (select claimed.id, claimed.created_at, claimed.plan_execution ->> 'pool' as pool, claimed.plan_execution ->> 'agent' as agent
              from runs.leases l join runs claimed on claimed.id = l.run
             where l.slot < 0 and claimed.cancel_requested_at is null) a
      join agent_pools ap on ap.id = a.pool
     where exists (select 1 from ${selectRunsInReach(sql.raw('ap.organization'))} ${RUN_JOINS}
                    where r.status in ('plan_queued', 'apply_queued') and ${isNoAssessment('r')}
                      and (r.reached ->> r.status)::timestamptz <= ${since}::timestamptz
                      and ${SERVES_WORKSPACE} and ${acceptsPhase('a.agent', WAITING_PHASE)}
                      and not ${usesAllSlots('>', siteRunsPerOrganization)})
     order by a.pool, a.created_at desc, a.id limit ${limit}`);
