import { createHash } from 'node:crypto';
import { sql, type Sql } from '#platform/kernel';
import { openNote, parseCheckpoint, parseVerifierKey, type LogCheckpoint } from '#packages/trail-verifier';
import type { Database } from '#platform/postgres';
import { runJobOnce } from './scheduled-jobs.js';
import type { TestServer } from './server.js';
import { createTrailCheckpointJob } from '../../libs/activity/audit-trail-log/checkpoints/checkpoints.job.js';
import type { HistoryGuard } from '../../libs/activity/audit-trail-log/checkpoints/history-guards.service.js';
import {
  findNewestCheckpoint,
  listVerifierKeys,
} from '../../libs/activity/audit-trail-log/serving/trail-logs.queries.js';

export const createLeaf = (n: number, history = ''): Buffer => createHash('sha256').update(`${history}${n}`).digest();

/** Inserts leaves as the trail's follower does. */
export const insertTestLeaves = async (
  database: Database,
  organization: string,
  [from, to]: readonly [number, number],
  history = '',
): Promise<void> => {
  const leaves = Array.from({ length: to - from }, (_, n) => createLeaf(from + n, history));
  await database.rows(sql`
    insert into audit_trail.leaves (organization, index, id, leaf)
    select ${organization}, ${from} + n - 1, gen_random_uuid(), leaf
      from unnest(${leaves}::bytea[]) with ordinality as list (leaf, n)`);
};

/** Changes durable rows as an administrator of the database can. */
export const tamper = async (database: Database, statement: Sql): Promise<void> => {
  await database.transaction([sql`select set_config('session_replication_role', 'replica', true)`, statement]);
};

/** Returns a function that runs the job which signs checkpoints, as a projector that has just started. */
export const createTestSigning = ({ runtime }: TestServer, guards: readonly HistoryGuard[] = []) => {
  const job = createTrailCheckpointJob({ ...runtime, guards }, runtime.settings);
  return () => runJobOnce(job);
};

/** Returns the newest checkpoint, verified with the present verifier key. */
export const readVerifiedCheckpoint = async (database: Database, organization: string): Promise<LogCheckpoint> => {
  const checkpoint = await findNewestCheckpoint(database, organization);
  const [key = ''] = await listVerifierKeys(database, organization);
  return parseCheckpoint(openNote(checkpoint?.note ?? '', [parseVerifierKey(key)]).text);
};
