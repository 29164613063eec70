import { notFound, sql, type Sql } from '#platform/kernel';
import {
  requireCurrentAccess,
  selectRangesOfLink,
  selectWorkspaceGrants,
  type Actor,
  type Grant,
  type Identity,
  type PermissionScope,
} from '#api/access';
import type { Database } from '#platform/postgres';
import type { PhaseName, StatusTimestamps } from '../runs/phases.js';
import type { LinkRecipient, LogTarget } from '../runs/run-logs.links.js';
import type { RunStatus } from '../runs/run-status.js';
import { canExecute, RUN_JOINS } from '../runs/runs.queries.js';
import { hasEnded, getPhaseStatus, type LogChunk, type LogEnd, type LogRange } from './run-log.js';

/** The run of a log, and the end of its chunks; null if there are none. */
export type RunForLog = PermissionScope & {
  readonly id: string;
  readonly workspace: string;
  readonly organization: string;
  readonly status: RunStatus;
  readonly reached: StatusTimestamps;
  readonly executable: boolean;
  /** The fence of the claim of the phase; null if nobody has claimed it. */
  readonly fence: number | null;
  readonly log: LogEnd | null;
};

const selectLastChunk = (phase: string): Sql => sql`(
  select jsonb_build_object('end', c.start + c.length, 'chunks', c.number + 1, 'isJson', c.is_json,
                            'endsLine', c.ends_line, 'isCut', c.is_cut, 'fence', c.fence, 'base', c.base)
    from runs.log_chunks c where c.phase = ${phase} order by c.start desc limit 1)`;

/** Selects the fence of the claim of a phase of the run `r`. */
export const selectFence = (phase: PhaseName): Sql =>
  sql.raw(`(r.${phase === 'plan' ? 'plan_execution' : 'apply_execution'} ->> 'fence')::integer`);

export const loadRunForLog = async (
  database: Database,
  actor: Actor,
  { run, phase, name }: LogTarget,
): Promise<RunForLog> => {
  const row = await database.row<RunForLog>(sql`
    select r.id, r.workspace, r.organization, r.status, r.reached, ${canExecute(actor.id)} as executable,
           ${selectFence(name)} as fence, '[]'::jsonb as grants, ${selectLastChunk(phase)} as log
      from runs r ${RUN_JOINS} where r.id = ${run} and ${requireCurrentAccess(actor)}`);
  if (!row) throw notFound();
  return row;
};

const RUNNING: Readonly<Record<PhaseName, RunStatus>> = { plan: 'planning', apply: 'applying' };

/**
 * Stores chunks that follow the end of the log, if the phase is still running and claimed with the fence. The lock on the row of
 * the run makes an event that changes this wait, so no chunk is added afterwards. Returns whether the chunks were stored.
 */
export const insertChunks = async (
  database: Database,
  { run, phase, name }: LogTarget,
  fence: number | null,
  chunks: readonly (LogChunk & { readonly encrypted: Buffer })[],
): Promise<boolean> => {
  if (chunks.length === 0) return true;
  const list = <T>(valueOf: (chunk: (typeof chunks)[number]) => T): T[] => chunks.map(valueOf);
  const [stored = []] = await database.transaction([
    sql`
      insert into runs.log_chunks
        (id, phase, start, length, number, is_json, ends_line, is_cut, fence, base, run, workspace, organization, content)
      select ${phase} || '/' || c.start, ${phase}, c.start, c.length, c.number, c.is_json, c.ends_line, c.is_cut, c.fence,
             c.base, r.id, r.workspace, r.organization, c.content
        from (select r.id, r.workspace, r.organization from runs r
                where r.id = ${run} and r.status = ${RUNNING[name]} and ${selectFence(name)} is not distinct from ${fence}::integer
                  for share) r
       cross join unnest(${list(({ start }) => start)}::bigint[], ${list(({ content }) => content.length)}::integer[],
                         ${list(({ number }) => number)}::integer[], ${list(({ isJson }) => isJson)}::boolean[],
                         ${list(({ endsLine }) => endsLine)}::boolean[], ${list(({ isCut }) => isCut)}::boolean[],
                         ${list((chunk) => chunk.fence)}::integer[], ${list(({ base }) => base)}::bigint[],
                         ${list(({ encrypted }) => encrypted)}::bytea[])
                    as c (start, length, number, is_json, ends_line, is_cut, fence, base, content)
      returning id`,
  ]);
  return stored.length > 0;
};

/** The run of a log, with one of the chunks that the range overlaps. */
type LogRow = PermissionScope & {
  readonly organization: string;
  /** Access of the teams of the reader. */
  readonly grants: readonly Grant[];
  readonly status: RunStatus;
  readonly reached: StatusTimestamps;
  readonly isDataDeleted: boolean;
  /** For `requireAddressOfLink`. */
  readonly allowedRanges: readonly string[] | null;
  /** Bytes of all chunks; null if there are none. */
  readonly end: number | null;
  readonly start: number | null;
  readonly content: Buffer | null;
};

/** Chunks that one read returns. A reader that needs more reads again. */
const CHUNKS_PER_READ = 64;

const selectChunks = (phase: string, { offset, limit }: LogRange): Sql => sql`
  select c.start, c.content from runs.log_chunks c
   where c.phase = ${phase} and c.start < ${offset + limit}::bigint and c.start + c.length > ${offset}::bigint
     and c.start >= (select max(f.start) from runs.log_chunks f where f.phase = ${phase} and f.start <= ${offset}::bigint)
   order by c.start limit ${CHUNKS_PER_READ}`;

/**
 * The caller that a link was made for. `identity` is null for the token of an organization, a pool or a run, whose access does not
 * change.
 */
type LinkReader = LinkRecipient & { readonly identity: Identity | null };

/**
 * Reads a log for a signed link: a row for each chunk, or one without a chunk. The statement fails if the access of the reader has
 * changed since its identity was read.
 */
export const listChunksOfLink = (
  database: Database,
  { run, phase }: LogTarget,
  { type, id, identity }: LinkReader,
  range: LogRange,
): Promise<LogRow[]> =>
  database.rows<LogRow>(sql`
    select r.organization, r.status, r.reached, r.data_deleted_at is not null as "isDataDeleted",
           (${selectLastChunk(phase)} ->> 'end')::bigint as "end", c.start, c.content,
           ${identity ? selectWorkspaceGrants(identity, 'w') : sql`'[]'::jsonb`} as grants,
           ${selectRangesOfLink(sql.raw('r.organization'), { type: sql`${type}::text`, id: sql`${id}::text` })} as "allowedRanges"
      from runs r join workspaces w on w.id = r.workspace
      left join lateral (${selectChunks(phase, range)}) c on true
     where r.id = ${run} and ${identity ? requireCurrentAccess(identity) : sql`true`} order by c.start`);

export const listChunks = (
  database: Database,
  phase: string,
  range: LogRange,
): Promise<{ start: number; content: Buffer }[]> =>
  database.rows<{ start: number; content: Buffer }>(selectChunks(phase, range));

/** A log of a phase that has ended whose chunks are not in a file yet. */
export type EndedLog = { readonly run: string; readonly phase: string };

const LOGS_PER_PAGE = 100;

/** Yields the logs that have chunks although their phases have ended. */
export async function* listEndedLogs(database: Database): AsyncGenerator<EndedLog> {
  for (let after = ''; ;) {
    const page = await database.rows<EndedLog & { readonly status: RunStatus; readonly reached: StatusTimestamps }>(sql`
      select c.phase, c.run, r.status, r.reached from runs.log_chunks c join runs r on r.id = c.run
       where c.start = 0 and c.phase > ${after} order by c.phase limit ${LOGS_PER_PAGE}`);
    yield* page.filter(({ phase, ...run }) =>
      hasEnded(getPhaseStatus(phase.startsWith('plan-') ? 'plan' : 'apply', run)),
    );
    const last = page.at(-1);
    if (!last || page.length < LOGS_PER_PAGE) return;
    after = last.phase;
  }
}

export const deleteChunks = (phase: string): Sql =>
  sql`delete from runs.log_chunks where phase = ${phase} returning id`;

/** Returns false if the run or its data was deleted. */
export const isRunDataKept = async (database: Database, run: string): Promise<boolean> =>
  (await database.row(sql`select 1 from runs where id = ${run} and data_deleted_at is null`)) !== undefined;

/** Returns the status of a run and the fence of its plan; undefined if the run was deleted. */
export const findPlanOfDocuments = (
  database: Database,
  run: string,
): Promise<{ readonly status: RunStatus; readonly fence: number | null } | undefined> =>
  database.row<{ readonly status: RunStatus; readonly fence: number | null }>(
    sql`select r.status, ${selectFence('plan')} as fence from runs r where r.id = ${run}`,
  );
