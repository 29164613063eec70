import { sql, type Sql } from '#kernel';
import type { Database } from '#postgres';
import type { Identity } from '../authentication/actor.js';

/**
 * Returns a condition for the first statement of every request. It makes the statement fail if access has changed since
 * the caller was read. OutdatedAccessFilter then reads the caller again and repeats the request. So a revoked
 * permission is gone at the next request on every gateway, without a statement of its own (ADR 32).
 */
export const requireCurrentAccess = (actor: Identity): Sql =>
  // The plpgsql function, which raises the error, is called only if something differs, because a call in every
  // statement would be too slow.
  sql`case when ${hasToken(actor)} and ${hasEpoch(actor)} then true else access.refuse_outdated(${actor.epoch}::bigint) end`;

/**
 * Checks that the token exists. Its hash is deleted with the token. The hash of a run's token is deleted at the end of
 * the run.
 */
const hasToken = ({ token }: Identity): Sql =>
  token === null ? sql`true` : sql`exists (select from access.token_hashes where token = ${token})`;

/**
 * For callers with more subjects, recent changes are compared first, because a sum over 1,000 subjects takes 3 to 5 ms.
 */
export const MAX_SUMMED_SUBJECTS = 32;

/** If more subjects have changed, the sum is as cheap as a comparison with each of them. */
export const MAX_CHANGED_SUBJECTS = 500;

const hasEpoch = (actor: Identity): Sql =>
  actor.snapshot === null ? hasSum(actor) : sql`(${isUntouched(actor, actor.snapshot)} or ${hasSum(actor)})`;

/** Epochs only grow, so an equal sum means that each of them is equal. */
const hasSum = ({ subjects, epoch }: Identity): Sql =>
  sql`${epoch}::bigint = (select coalesce(sum(epoch), 0) from access.epochs where subject = any (${subjects}::text[]))`;

/**
 * Returns the condition that none of the caller's subjects changed after the caller was read. It is also false if too
 * many subjects have changed. In a restored database, rows may contain ids of transactions that do not exist yet; these
 * are no changes. The order makes Postgres use the index. Without it, Postgres reads the table until it has as many
 * rows as the limit.
 */
const isUntouched = ({ subjects }: Identity, snapshot: string): Sql => sql`
  (select count(*) < ${MAX_CHANGED_SUBJECTS} and not coalesce(bool_or(subject in (select unnest(${subjects}::text[]))), false)
     from (select subject from access.epochs
            where changed >= pg_snapshot_xmin(${snapshot}::pg_snapshot)
              and changed < pg_snapshot_xmax(pg_current_snapshot())
              and not pg_visible_in_snapshot(changed, ${snapshot}::pg_snapshot)
            order by changed desc limit ${MAX_CHANGED_SUBJECTS}) recent)`;

/**
 * Returns the subject that represents all members of an organization, as an SQL expression. Its epoch is raised by
 * changes that affect all of them.
 */
export const selectMembersSubject = (organization: Sql): Sql => sql`${organization} || ' members'`;

/** Raises the epoch of a subject: the next request of each caller with that subject reads the caller again (ADR 32). */
export const raiseEpoch = (subject: Sql): Sql => sql`select access.raise_epoch(${subject})`;

/**
 * Checks the access in a statement of its own, for requests without another statement that could contain the condition.
 */
export const verifyCurrentAccess = async (database: Database, actor: Identity): Promise<void> => {
  await database.rows(sql`select ${requireCurrentAccess(actor)}`);
};

export const isOutdatedAccessError = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'CA401';
