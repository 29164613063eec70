import { notFound, sql, type Sql, type Timestamp } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import { requireCurrentAccess, type Actor } from '#api/access';
import type { RunExecution } from './run-event.js';
import { EXECUTING_STATUSES, isApplying, RUN_STATUSES, type RunStatus } from './run-status.js';
import { canExecute, isOpen, RUN_JOINS, selectRunsInReach, SERVES_WORKSPACE } from './runs.queries.js';

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
  readonly status: RunStatus;
  readonly agent: string;
  readonly fence: number;
  readonly expiresAt: Timestamp;
  readonly cancelRequestedAt: Timestamp | null;
};

const toExpiry = (now: Date): Timestamp => new Date(now.getTime() + LEASE_MS).toISOString();

const EXECUTION = sql`case when r.status = any (${RUN_STATUSES.filter(isApplying)}::text[]) then r.apply_execution
  else r.plan_execution end`;

/** Stores a lease for the claim in the row of the run. */
export const insertLease = (run: string, now: Date): Sql => sql`
  insert into runs.leases (run, organization, agent, fence, expires_at)
  select id, organization, execution ->> 'agent', (execution ->> 'fence')::integer, ${toExpiry(now)}::timestamptz
    from (select r.id, r.organization, ${EXECUTION} as execution from runs r where r.id = ${run}) r
  on conflict (run) do update
    set agent = excluded.agent, fence = excluded.fence, expires_at = excluded.expires_at`;

export const deleteLease = (run: string): Sql => sql`delete from runs.leases where run = ${run}`;

const COLUMNS = sql.raw(`r.id as run, r.workspace, r.status, l.agent, l.fence, l.expires_at as "expiresAt",
  r.cancel_requested_at as "cancelRequestedAt"`);

/** Returns the lease of a run; undefined if its executor has finished. */
export const findLease = (database: Database, run: string): Promise<RunLease | undefined> =>
  database.row<RunLease>(sql`select ${COLUMNS} from runs.leases l join runs r on r.id = l.run where l.run = ${run}`);

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
       where l.run = ${run} and r.id = l.run and l.fence = ${fence} and ${canExecute(actor.id)} and ${requireCurrentAccess(actor)}
      returning ${COLUMNS})
    select to_jsonb(renewed) as lease
      from runs r ${RUN_JOINS} left join renewed on true
     where r.id = ${run} and ${canExecute(actor.id)} and ${requireCurrentAccess(actor)}`);
  if (!row) throw notFound();
  return row.lease;
};

export const hasLease = async (database: Database, agent: string): Promise<boolean> =>
  (await database.row(sql`select 1 from runs.leases where agent = ${agent} limit 1`)) !== undefined;

/** Applies come before plans, and plans that may be applied before others. */
const CLAIM_ORDER = sql.raw(`r.status = 'apply_queued' desc, (r.options ->> 'planOnly')::boolean, r.created_at, r.id`);

/** Returns the id of the run that an executor of the pool should claim next. */
export const findClaimableRun = async (
  database: Database,
  pool: string,
  statuses: readonly QueuedStatus[],
  except: readonly string[],
): Promise<string | null> => {
  const row = await database.row<{ readonly id: string }>(sql`
    select r.id from agent_pools ap cross join lateral ${selectRunsInReach(sql.raw('ap.organization'))} ${RUN_JOINS}
     where ap.id = ${pool} and r.status in ('plan_queued', 'apply_queued') and r.status = any (${statuses}::text[])
       and ${SERVES_WORKSPACE} and r.id <> all (${except}::text[])
     order by ${CLAIM_ORDER} limit 1`);
  return row?.id ?? null;
};

/** What an executor waits for: a run that its pool can claim, or the end of a run that it executes. */
export type ExecutorWait =
  { readonly pool: string; readonly statuses: readonly QueuedStatus[] } | { readonly run: string };

/** Selects the waits that are over: `wait` is the index in the list. */
export const selectEndedWaits = (waits: readonly ExecutorWait[]): Sql => {
  const rows = waits.map((wait, index) => ({ wait: index, pool: null, run: null, statuses: [], ...wait }));
  return sql`
    select waiting.wait
      from jsonb_to_recordset(${sql.json(rows)}) as waiting (wait integer, pool text, run text, statuses text[])
     where exists (
       select from agent_pools ap cross join lateral ${selectRunsInReach(sql.raw('ap.organization'))} ${RUN_JOINS}
        where ap.id = waiting.pool and r.status in ('plan_queued', 'apply_queued') and r.status = any (waiting.statuses)
          and ${SERVES_WORKSPACE})
        or exists (
       select from runs r where r.id = waiting.run and (r.cancel_requested_at is not null or not ${isOpen('r')}))`;
};

/** A claimed run whose lease has ended. */
export type LostRun = { readonly run: string; readonly execution: RunExecution; readonly isApply: boolean };

export const listLostRuns = (database: Database, now: Date, limit: number): Promise<readonly LostRun[]> =>
  database.rows<LostRun>(sql`
    select * from (
      select r.id as run, ${EXECUTION} as execution, r.status = any (${RUN_STATUSES.filter(isApplying)}::text[]) as "isApply"
        from runs r left join runs.leases l on l.run = r.id
       where ${isOpen('r')} and r.status = any (${EXECUTING_STATUSES}::text[])
         and (l.run is null or l.expires_at < ${now.toISOString()}::timestamptz)) r
     where execution is not null limit ${limit}`);
