import { LOCK_ENDED, LOCK_STARTED, sql, type Sql } from '#platform/kernel';
import { toFieldCode } from './history.field-codes.js';

/**
 * Versions that were written before fields had codes, and that are not rebuilt yet. Their row has the names of the
 * changed fields. Other rows are found in the index alone.
 */
const isEarlierRow = (v: Sql, condition: Sql): Sql => sql`(${v}.fields = '?' and exists (
  select from history_versions earlier
   where earlier.subject = ${v}.subject and earlier.since = ${v}.since and earlier.ordinal = ${v}.ordinal
     and ${condition}))`;

const toPattern = (fields: readonly string[]): string => fields.map(toFieldCode).join('|');

/** Returns the condition that the version `alias` changed any of the fields. */
export const changedAny = (alias: string, fields: readonly string[]): Sql => {
  if (fields.length === 0) return sql`false`;
  const v = sql.raw(alias);
  return sql`(${v}.fields ~ ${toPattern(fields)} or ${isEarlierRow(v, sql`earlier.changed && ${fields}::text[]`)})`;
};

/** Returns the condition that the version `alias` changed a field besides these, or no field, as a deletion does. */
export const changedBesides = (alias: string, fields: readonly string[]): Sql => {
  const v = sql.raw(alias);
  const earlier = sql`(not earlier.changed <@ ${fields}::text[] or earlier.changed = '{}')`;
  return sql`(${v}.fields <> '?' and ${v}.fields !~ ${`^(?:${toPattern(fields)})+$`} or ${isEarlierRow(v, earlier)})`;
};

/** Returns the condition that the version `alias` began a lock. */
export const startedLock = (alias: string): Sql => {
  const v = sql.raw(alias);
  const earlier = sql`'locked' = any (earlier.changed) and jsonb_typeof(earlier.data -> 'lock') = 'object'`;
  return sql`(${v}.fields ~ ${toFieldCode(LOCK_STARTED)} or ${isEarlierRow(v, earlier)})`;
};

/** Returns the condition that the version `alias` ended the lock that the workspace had. */
export const endedLock = (alias: string): Sql => {
  const v = sql.raw(alias);
  const earlier = sql`(earlier.data is null or 'locked' = any (earlier.changed) and earlier.data -> 'lock' = 'null')`;
  return sql`(${v}.fields ~ ${toFieldCode(LOCK_ENDED)} or ${isEarlierRow(v, earlier)})`;
};

/**
 * Returns the complete data of the version `alias`, null if it is a deletion. The base version is the last complete one
 * that is not after it. The data has no `updatedAt` if that is `since`; earlier rows have it always.
 */
export const selectCompleteData = (alias: string): Sql =>
  sql.raw(`(
  select case when ${alias}.fields = '?' then base.data else base.data - 'updatedAt' end || ${alias}.data
    from history_versions base
   where base.subject = ${alias}.subject and base.frame = base.ordinal
     and (base.since, base.ordinal) <= (${alias}.since, ${alias}.ordinal)
   order by base.since desc, base.ordinal desc limit 1)`);

/** The condition that the version `h` is the creation of its subject, which is found in the index of bases. */
export const IS_CREATION = sql.raw('h.ordinal = 1 and h.frame = h.ordinal');

/** Conditions as in the partial indexes of names and SSH keys. */
export const HAS_CHANGED_NAME = sql.raw(`fields ~ '${toFieldCode('name')}'`);
export const HAS_CHANGED_SSH_KEY = sql.raw(`fields ~ '${toFieldCode('ssh-key')}'`);
