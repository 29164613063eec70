import { sql, type Sql } from '#platform/kernel';

/** A stream and the version at which it was read, as a precondition of an append. */
export type StreamVersion = { readonly stream: string; readonly version: number };

/**
 * Returns a `StreamSnapshot` as jsonb, for the row of event_store.streams with this alias. `more` adds members with SQL
 * expressions.
 */
export const buildSnapshotJson = (alias: string, more: Readonly<Record<string, string>> = {}): Sql => {
  const own = { version: `${alias}.version`, decider: `${alias}.decider`, state: `${alias}.state` };
  const members = Object.entries({ ...own, ...more }).map(([name, expression]) => `'${name}', ${expression}`);
  return sql.raw(`jsonb_build_object(${members.join(', ')})`);
};

/**
 * Returns the same for a stream that the statement does not join; null if it does not exist. `stream` is the column
 * with its id.
 */
export const selectSnapshotJson = (stream: string): Sql =>
  sql`(select ${buildSnapshotJson('its')} from event_store.streams its where its.stream = ${sql.raw(stream)})`;

/**
 * Returns `StreamVersion[]` as jsonb for the existing streams, sorted because they are locked in this order. `streams`
 * is an array whose nulls are ignored.
 */
export const selectStreamVersions = (streams: Sql): Sql => sql`coalesce((
  select jsonb_agg(jsonb_build_object('stream', stream, 'version', version) order by stream) from event_store.streams
   where stream = any (${streams})), '[]')`;
