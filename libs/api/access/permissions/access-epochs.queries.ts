import { sql, type Sql } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import type { Identity } from '../callers/actor.js';

/**
 * Returns a condition for the first statement of every request. It makes the statement fail if access has changed since
 * the caller was read. OutdatedAccessFilter then reads the caller again and repeats the request. So a revoked
 * permission is gone at the next request on every gateway, without a statement of its own (ADR 32).
 */
export const requireCurrentAccess = (actor: Identity): Sql =>
  // The plpgsql function, which raises the error, is called only if something differs, because a call in every
  // statement would be too slow.
  sql`case when ${hasToken(actor)} and ${hasEpoch(actor)} then true else access.refuse_outdated(${actor.epoch}::bigint) end`;

/** The fields of an identity that are checked: values, or SQL expressions. */
type CheckedFields = {
  readonly [Field in 'token' | 'subjects' | 'epoch' | 'snapshot']: Identity[Field] | Sql;
};

/**
 * Checks that the token exists. Its hash is deleted with the token. The hash of a run's token is deleted at the end of
 * the run.
 */
const hasToken = ({ token }: CheckedFields): Sql =>
  token === null ? sql`true` : sql`exists (select from access.token_hashes where token = ${token})`;

/**
 * For callers with more subjects, recent changes are compared first, because a sum over 1,000 subjects takes 3 to 5 ms.
 */
export const MAX_SUMMED_SUBJECTS = 32;

/** If more subjects have changed, the sum is as cheap as a comparison with each of them. */
export const MAX_CHANGED_SUBJECTS = 500;

const hasEpoch = (actor: CheckedFields): Sql =>
  actor.snapshot === null ? hasSum(actor) : sql`(${isUntouched(actor)} or ${hasSum(actor)})`;

/** Epochs only grow, so an equal sum means that each of them is equal. */
const hasSum = ({ subjects, epoch }: CheckedFields): Sql =>
  sql`${epoch}::bigint = (select coalesce(sum(epoch), 0) from access.epochs where subject = any (${subjects}::text[]))`;

/**
 * Returns the condition that none of the caller's subjects changed after the caller was read. It is also false if too
 * many subjects have changed. In a restored database, rows may contain ids of transactions that do not exist yet; these
 * are no changes. The order makes Postgres use the index. Without it, Postgres reads the table until it has as many
 * rows as the limit.
 */
const isUntouched = ({ subjects, snapshot }: CheckedFields): Sql => sql`
  (select count(*) < ${MAX_CHANGED_SUBJECTS} and not coalesce(bool_or(subject in (select unnest(${subjects}::text[]))), false)
     from (select subject from access.epochs
            where changed >= pg_snapshot_xmin(${snapshot}::pg_snapshot)
              and changed < pg_snapshot_xmax(pg_current_snapshot())
              and not pg_visible_in_snapshot(changed, ${snapshot}::pg_snapshot)
            order by changed desc limit ${MAX_CHANGED_SUBJECTS}) recent)`;

const CALLER_FIELDS: CheckedFields = {
  token: sql.raw('c.token'),
  subjects: sql.raw('c.subjects'),
  epoch: sql.raw('c.epoch'),
  snapshot: sql.raw('c.snapshot'),
};

const HAS_CURRENT_EPOCH = sql`case when c.snapshot is null then ${hasSum(CALLER_FIELDS)} else ${hasEpoch(CALLER_FIELDS)} end`;

/**
 * Selects the positions, from 1, of the callers whose access has changed since they were read: the check of
 * `requireCurrentAccess` for several callers. `callers` is a jsonb array of `toCheckedCaller`.
 */
export const selectOutdatedCallers = (callers: string): Sql => sql`
  select c.n from rows from (jsonb_to_recordset(${callers}::jsonb)
           as (token text, subjects text, epoch bigint, snapshot text)) with ordinality as c (token, subjects, epoch, snapshot, n)
   where not (${hasToken(CALLER_FIELDS)} and ${HAS_CURRENT_EPOCH})`;

/** Returns the fields of a caller with a token that `selectOutdatedCallers` checks. */
export const toCheckedCaller = ({ token, subjects, epoch, snapshot }: Identity): object => ({
  token,
  subjects,
  epoch,
  snapshot,
});

/**
 * Returns the subject that represents all members of an organization, as an SQL expression. Its epoch is raised by
 * changes that affect all of them.
 */
export const selectMembersSubject = (organization: Sql): Sql => sql`${organization} || ' members'`;

/**
 * Returns the subject that represents the callers of an organization that are no active members: tokens of teams, agents,
 * runs and the organization, and invited people. Its epoch is raised together with that of the members when addresses are
 * allowed or refused.
 */
export const selectAddressesSubject = (organization: Sql): Sql => sql`${organization} || ' addresses'`;

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
