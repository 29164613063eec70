import { sql, type Sql } from '#kernel';
import type { Database } from '#postgres';
import type { Identity } from '../authentication/actor.js';

/**
 * A condition for the first statement of every request. It fails the statement if access has changed since the caller was
 * read. OutdatedAccessFilter then reads the caller again and repeats the request: a permission that is taken away is gone at the
 * next request on every gateway, without a statement of its own (ADR 32).
 */
export const requireCurrentAccess = (actor: Identity): Sql =>
  // The function, which raises, is called only if something differs: plpgsql in each statement of each request adds up.
  sql`case when ${hasToken(actor)} and ${hasEpoch(actor)} then true else access.refuse_outdated(${actor.epoch}::bigint) end`;

/** A token's hash is deleted with the token, whatever ends it; for a token of a run that is the end of the run. */
const hasToken = ({ token }: Identity): Sql =>
  token === null ? sql`true` : sql`exists (select from access.token_hashes where token = ${token})`;

/** Callers with more subjects than this are compared with what has changed first: a sum over 1,000 subjects takes 3 to 5 ms. */
export const MAX_SUMMED_SUBJECTS = 32;

/** If more subjects have changed than this, the sum is as cheap as a comparison with each of them. */
export const MAX_CHANGED_SUBJECTS = 500;

const hasEpoch = (actor: Identity): Sql =>
  actor.snapshot === null ? hasSum(actor) : sql`(${isUntouched(actor, actor.snapshot)} or ${hasSum(actor)})`;

/** Epochs only grow: if their sum is the same, so is each of them. */
const hasSum = ({ subjects, epoch }: Identity): Sql =>
  sql`${epoch}::bigint = (select coalesce(sum(epoch), 0) from access.epochs where subject = any (${subjects}::text[]))`;

/**
 * Whether none of the caller's subjects is among those that changed after the caller was read. False may also mean that too
 * many have changed to tell. In a restored database, rows can name transactions that are still to come: these are no
 * changes. The order makes Postgres use the index; without it, Postgres prefers to read the table until it has found as
 * many rows as the limit allows.
 */
const isUntouched = ({ subjects }: Identity, snapshot: string): Sql => sql`
  (select count(*) < ${MAX_CHANGED_SUBJECTS} and not coalesce(bool_or(subject in (select unnest(${subjects}::text[]))), false)
     from (select subject from access.epochs
            where changed >= pg_snapshot_xmin(${snapshot}::pg_snapshot)
              and changed < pg_snapshot_xmax(pg_current_snapshot())
              and not pg_visible_in_snapshot(changed, ${snapshot}::pg_snapshot)
            order by changed desc limit ${MAX_CHANGED_SUBJECTS}) recent)`;

/** The subject that stands for all members of an organization, as an SQL expression: what changes the access of all of them. */
export const selectMembersSubject = (organization: Sql): Sql => sql`${organization} || ' members'`;

/** Raises the epoch of a subject: the next request of each caller with that subject reads the caller again (ADR 32). */
export const raiseEpoch = (subject: Sql): Sql => sql`select access.raise_epoch(${subject})`;

/** For requests that send no other statement that could carry the condition. */
export const verifyCurrentAccess = async (database: Database, actor: Identity): Promise<void> => {
  await database.rows(sql`select ${requireCurrentAccess(actor)}`);
};

export const isOutdatedAccessError = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'CA401';
