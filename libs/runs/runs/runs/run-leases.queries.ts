import { notFound, sql, type Sql, type Timestamp } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import { isPermittedBy, requireCurrentAccess, selectPermittedScopes, toPermittedPage, type Actor } from '#api/access';
import { selectPoolCapacity } from '#organizations/agents';
import { SELECT_IS_FAIR } from '#organizations/general-settings';
import { buildLimit, type ListPage, type ListRow, type PageRequest } from '#api/json-api';
import type { RunExecution } from './run-event.js';
import { isApplying, RUN_STATUSES, type RunStatus } from './run-status.js';
import {
  canExecute,
  isAssessment,
  isNoAssessment,
  isOpen,
  RUN_JOINS,
  selectRunGrants,
  selectRunsInReach,
  SERVES_WORKSPACE,
} from './runs.queries.js';

/** The statuses in which a run waits for the executor of a phase. */
export const QUEUED_STATUS = { plan: 'plan_queued', apply: 'apply_queued' } as const;
export const PHASES = ['plan', 'apply'] as const satisfies readonly (keyof typeof QUEUED_STATUS)[];
export type ClaimablePhase = (typeof PHASES)[number];
type QueuedStatus = (typeof QUEUED_STATUS)[ClaimablePhase];

const LEASE_MS = 60_000;

/** The claim of an executor, which ends if the executor does not renew it. */
export type RunLease = {
  readonly run: string;
  readonly workspace: string;
  readonly workspaceName: string;
  readonly organization: string;
  readonly status: RunStatus;
  readonly agent: string;
  readonly fence: number;
  readonly expiresAt: Timestamp;
  readonly cancelRequestedAt: Timestamp | null;
};

const toExpiry = (now: Date): Timestamp => new Date(now.getTime() + LEASE_MS).toISOString();

const EXECUTION = sql`case when r.status = any (${RUN_STATUSES.filter(isApplying)}::text[]) then r.apply_execution
  else r.plan_execution end`;

/** The unique index by which two claims cannot have the same slot of an organization. */
export const SLOT_CONSTRAINT = 'leases_slot';

/** Stores a lease for the claim in the row of the run. `slot`: see `ClaimableRun`. */
export const insertLease = (run: string, slot: number | null, now: Date): Sql => sql`
  insert into runs.leases (run, organization, agent, fence, expires_at, slot)
  select id, organization, execution ->> 'agent', (execution ->> 'fence')::integer, ${toExpiry(now)}::timestamptz, ${slot}::integer
    from (select r.id, r.organization, ${EXECUTION} as execution from runs r where r.id = ${run}) r
  on conflict (run) do update
    set agent = excluded.agent, fence = excluded.fence, expires_at = excluded.expires_at, slot = excluded.slot`;

/** Makes the organization the last one whose turn it is. */
export const recordTurn = (organization: string): Sql => sql`
  insert into runs.claim_turns (organization, turn) values (${organization}, nextval('runs.claim_turn'))
  on conflict (organization) do update set turn = excluded.turn`;

export const deleteLease = (run: string): Sql => sql`delete from runs.leases where run = ${run}`;

const COLUMNS =
  sql.raw(`r.id as run, r.workspace, w.name as "workspaceName", o.name as organization, r.status, l.agent, l.fence, l.expires_at as "expiresAt",
  r.cancel_requested_at as "cancelRequestedAt"`);

/** Returns the lease of a run; undefined if its executor has finished. */
export const findLease = (database: Database, run: string): Promise<RunLease | undefined> =>
  database.row<RunLease>(
    sql`select ${COLUMNS} from runs.leases l join runs r on r.id = l.run ${RUN_JOINS} where l.run = ${run}`,
  );

/** Renews the lease of a run. Returns null if the newest claim has another fence. */
export const renewLease = async (
  database: Database,
  actor: Actor,
  { run, fence, now }: { readonly run: string; readonly fence: number; readonly now: Date },
): Promise<RunLease | null> => {
  const row = await database.row<{ readonly lease: RunLease | null }>(sql`
    with renewed as (
      update runs.leases l set expires_at = ${toExpiry(now)}::timestamptz
        from runs r ${RUN_JOINS}
       where l.run = ${run} and r.id = l.run and l.fence = ${fence} and l.expires_at > '-infinity' and ${canExecute(actor.id)} and ${requireCurrentAccess(actor)}
      returning ${COLUMNS})
    select to_jsonb(renewed) as lease
      from runs r ${RUN_JOINS} left join renewed on true
     where r.id = ${run} and ${canExecute(actor.id)} and ${requireCurrentAccess(actor)}`);
  if (!row) throw notFound();
  return row.lease;
};

type ListedLease = RunLease & { readonly id: string };

/** Returns one page of the leases of a pool's executors on runs that the caller may read, and the count of all these. */
export const listPoolLeases = async (
  database: Database,
  actor: Actor,
  pool: string,
  page: PageRequest,
): Promise<ListPage<RunLease>> => {
  const isReadable = isPermittedBy(actor, 'read-runs', {
    organization: sql.raw('r.organization'),
    grants: selectRunGrants(actor),
  });
  const leases = sql`from runs.leases l join runs r on r.id = l.run ${RUN_JOINS} 
    where ${EXECUTION} ->> 'pool' = ap.id and ${isReadable}`;
  const pools = sql`select id, organization from agent_pools where id = ${pool} and ${requireCurrentAccess(actor)}`;
  const rows = await database.slowRows<ListRow<ListedLease, { owner: string | null; total: number }>>(
    actor,
    sql`
    select ap.organization as owner, (select count(*) ${leases}) as total, page.*
      from ${selectPermittedScopes(actor, 'read-agent-pools', pools)} ap
      left join lateral (select l.run as id, ${COLUMNS} ${leases} order by l.run ${buildLimit(page)}) page on true
     order by page.id`,
  );
  return toPermittedPage(actor, 'read-agent-pools', rows);
};

export const hasLease = async (database: Database, agent: string): Promise<boolean> =>
  (await database.row(sql`select 1 from runs.leases where agent = ${agent} limit 1`)) !== undefined;

/** Phases of one organization that executors of the site execute at once, without health assessments; null for any number. */
export class SiteRunLimit {
  constructor(readonly perOrganization: number | null) {}
}

/**
 * Whether executors of the pool in the row `ap` may begin another health assessment: they execute a quarter of their capacity at
 * once, but at least one. The leases of assessments have the slots below 0, so that they never use a slot of a run.
 */
const HAS_ROOM_FOR_ASSESSMENT = sql`(
  select count(*) from runs.leases l join runs assessed on assessed.id = l.run
   where l.slot < 0 and assessed.plan_execution ->> 'pool' = ap.id) < greatest(1, ${selectPoolCapacity('ap.id')} / 4)`;

/** Whether the organization of the run `r` has that many leases with slots of the sign, which is the limit for executors of the site. */
export const usesAllSlots = (sign: '>' | '<', limit: number | null): Sql => sql`
  (ap.organization is null and ${limit}::integer is not null and r.organization in (
    select organization from runs.leases where slot ${sql.raw(sign)} 0 group by organization having count(*) >= ${limit}))`;

/** Whether the settings of the workspace `w` and its organization `o` ask for health assessments. */
export const HAS_ASSESSMENTS = sql`coalesce((w.settings ->> 'assessmentsEnabled')::boolean or (o.settings ->> 'assessmentsEnforced')::boolean, false)`;

/**
 * Whether somebody wants the assessment at this site: the settings ask for it, and the site has created it. Assessments of a
 * restored backup are older than the time since when the site assesses workspaces, which is in no backup.
 */
export const isAssessmentOfSite = (alias: string): Sql => sql`(${HAS_ASSESSMENTS}
  and ${sql.raw(alias)}.created_at >= coalesce((select begun_at from runs.assessments_begun), 'infinity'))`;

/** Whether executors of the pool in the row `ap` may claim the run `r`. Needs `RUN_JOINS`. */
const IS_CLAIMABLE = sql`(${SERVES_WORKSPACE} and (${isNoAssessment('r')} or ${isAssessmentOfSite('r')}))`;

/** Selects the runs as `r` that wait for an executor of the pool in the row `ap`, without a check of their workspaces. */
const selectWaiting = (statuses: Sql, { perOrganization }: SiteRunLimit): Sql => sql`
  from ${selectRunsInReach(sql.raw('ap.organization'))}
 cross join (select ${HAS_ROOM_FOR_ASSESSMENT} as has_room offset 0) assessing
 where r.status in ('plan_queued', 'apply_queued') and r.status = any (${statuses})
   and (${isNoAssessment('r')} and not ${usesAllSlots('>', perOrganization)}
        or ${isAssessment('r')} and assessing.has_room
           and not ${usesAllSlots('<', perOrganization && Math.max(1, Math.floor(perOrganization / 4)))})`;

/**
 * The order in which the runs of a pool are claimed. Health assessments come after all other runs, the oldest first. A pool of the
 * site serves organizations in turn, so that none of them waits longer because another one has more runs, unless an administrator
 * of the site has disabled fair queuing: all organizations then count as one. In an organization, applies come before plans, and
 * plans that may be applied before others.
 */
const CLAIM_ORDER = sql.raw('r.is_assessment, r.turn, r.turn_of, r.rank, r.created_at, r.id');

const CLAIM_ORDER_COLUMNS = sql`
  ${isAssessment('r')} as is_assessment,
  coalesce((select t.turn from runs.claim_turns t
             where ap.organization is null and t.organization = r.organization and ${SELECT_IS_FAIR}
               and ${isNoAssessment('r')}), 0) as turn,
  case when ${SELECT_IS_FAIR} and ${isNoAssessment('r')} then r.organization else '' end as turn_of,
  case when r.status = 'apply_queued' then 0 when (r.options ->> 'planOnly')::boolean then 2 else 1 end as rank`;

/** The number from 1, or from -1 downwards, that is nearest to 0 and that no lease of the organization has. */
const selectFreeSlot = (sign: 1 | -1): Sql =>
  sql.raw(`(
  select ${sign === 1 ? 'min' : 'max'}(free.slot)
    from (select ${sign} as slot
          union all
          select l.slot + ${sign} from runs.leases l where l.organization = r.organization and l.slot * ${sign} > 0) free
   where not exists (select from runs.leases l where l.organization = r.organization and l.slot = free.slot))`);

/**
 * A run that an executor should claim next. `slot` is null for runs that executors of the organization itself claim, and below 0
 * for health assessments, which take no turn of their organization.
 */
type ClaimableRun = { readonly run: string; readonly organization: string; readonly slot: number | null };

type Claimant = {
  readonly pool: string;
  readonly statuses: readonly QueuedStatus[];
  readonly except: readonly string[];
};

/**
 * Returns the run that an executor of the pool should claim next. Most runs at the beginning of the order are claimable, so Postgres
 * sorts all waiting runs and checks the workspaces of the first ones only.
 */
export const findClaimableRun = (
  database: Database,
  { pool, statuses, except }: Claimant,
  limit: SiteRunLimit,
): Promise<ClaimableRun | undefined> =>
  database.row<ClaimableRun>(sql`
    select r.id as run, r.organization, case when r.is_assessment then ${selectFreeSlot(-1)} when ap.organization is null then ${selectFreeSlot(1)} end as slot
      from (select r.*
              from agent_pools ap
             cross join lateral (select r.*, ${CLAIM_ORDER_COLUMNS} ${selectWaiting(sql`${statuses}::text[]`, limit)}) r
             where ap.id = ${pool} and r.id <> all (${except}::text[])
             order by ${CLAIM_ORDER} offset 0) r ${RUN_JOINS} join agent_pools ap on ap.id = ${pool}
     where ${IS_CLAIMABLE}
     order by ${CLAIM_ORDER} limit 1`);

/** What executors wait for: a run that their pool can claim, or the end of the lease that they have. */
export type ExecutorWait =
  | { readonly pool: string; readonly statuses: readonly QueuedStatus[] }
  | { readonly run: string; readonly fence: number };

/** Equal waits, and their number. */
type GroupedWait = { readonly wait: ExecutorWait; readonly count: number };

/** Selects for each group of waits how many are over: `group` is the index in the list. */
export const selectEndedWaits = (groups: readonly GroupedWait[], limit: SiteRunLimit): Sql => {
  const rows = groups.map(({ wait, count }, group) => ({ group, count, ...wait }));
  return sql`
    with waiting as (
      select * from jsonb_to_recordset(${sql.json(rows)})
               as w ("group" integer, count integer, pool text, statuses text[], run text, fence integer))
    select waiting.group, claimable.count as ended
      from waiting join agent_pools ap on ap.id = waiting.pool
     cross join lateral (
       select count(*)::integer as count
         from (select from (select r.* ${selectWaiting(sql.raw('waiting.statuses'), limit)}) r ${RUN_JOINS}
                where ${IS_CLAIMABLE} limit waiting.count) r) claimable
     where claimable.count > 0
    union all
    select waiting.group, waiting.count
      from waiting
     where waiting.run is not null and not exists (
       select from runs.leases l join runs r on r.id = l.run
        where l.run = waiting.run and l.fence = waiting.fence and r.cancel_requested_at is null)`;
};

/**
 * Ends a lease that was not renewed in time, so that it cannot be renewed any more. Returns false if it was renewed meanwhile. A
 * run without a lease, as after a restore, has nothing to end.
 */
export const endLease = async (database: Database, run: string, now: Date): Promise<boolean> => {
  const row = await database.row<{ readonly isEnded: boolean }>(sql`
    with ended as (
      update runs.leases set expires_at = '-infinity' where run = ${run} and expires_at < ${now.toISOString()}::timestamptz
      returning run)
    select exists (select from ended) or not exists (select from runs.leases where run = ${run}) as "isEnded"`);
  return row?.isEnded ?? false;
};

/** A claimed run whose lease has ended. */
export type LostRun = { readonly run: string; readonly execution: RunExecution; readonly isApply: boolean };

export const listLostRuns = (database: Database, now: Date, limit: number): Promise<readonly LostRun[]> =>
  database.rows<LostRun>(sql`
    select * from (
      select r.id as run, ${EXECUTION} as execution, r.status = any (${RUN_STATUSES.filter(isApplying)}::text[]) as "isApply"
        from runs r left join runs.leases l on l.run = r.id
       where ${isOpen('r')} and r.status in ('planning', 'applying')
         and (l.run is null or l.expires_at < ${now.toISOString()}::timestamptz)) r
     where execution is not null limit ${limit}`);

/**
 * Returns the number of leases, and since when the oldest run has waited for an executor; null if none waits. Health assessments do
 * not count.
 */
export const summarizeQueue = async (
  database: Database,
): Promise<{ readonly leases: number; readonly queuedSince: Timestamp | null }> => {
  const row = await database.row<{ readonly leases: number; readonly queuedSince: Timestamp | null }>(sql`
    select (select count(*) from runs.leases where slot is null or slot > 0) as leases,
           (select min((r.reached ->> r.status)::timestamptz) from runs r
             where r.status in ('plan_queued', 'apply_queued') and ${isNoAssessment('r')})
             as "queuedSince"`);
  return row ?? { leases: 0, queuedSince: null };
};
