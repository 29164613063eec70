import { sql, type Sql } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import { raiseConflictWhen } from '#storage/event-store';
import type { SignedCheckpoint } from './checkpoints.published.js';

/** Returns the position up to which the topic has all checkpoints; 0 if it has none. */
export const findSentPosition = async (database: Database, topic: string): Promise<number> => {
  const row = await database.row<{ readonly position: number }>(
    sql`select position from audit_trail.sent_checkpoints where topic = ${topic}`,
  );
  return row?.position ?? 0;
};

type CommittedCheckpoint = SignedCheckpoint & { readonly position: number };

/** Returns the next checkpoints after a position, in the order in which they were committed. */
export const listCheckpointsAfter = (
  database: Database,
  position: number,
  limit: number,
): Promise<readonly CommittedCheckpoint[]> =>
  database.rows<CommittedCheckpoint>(sql`
    select organization, note, signed_at as "signedAt", position from audit_trail.signed_checkpoints
     where position > ${position} order by position limit ${limit}`);

/** Statements that store what was sent. They conflict if another process has sent checkpoints meanwhile. */
export const storeSentPosition = (topic: string, from: number, to: number): readonly Sql[] => [
  sql`insert into audit_trail.sent_checkpoints (topic, position) values (${topic}, 0) on conflict do nothing`,
  raiseConflictWhen(
    sql`${from} <> (select position from audit_trail.sent_checkpoints where topic = ${topic} for update)`,
  ),
  sql`update audit_trail.sent_checkpoints set position = ${to} where topic = ${topic}`,
];

/** Lets all checkpoints be sent again. */
export const forgetSentPosition = (topic: string): Sql =>
  sql`delete from audit_trail.sent_checkpoints where topic = ${topic}`;
