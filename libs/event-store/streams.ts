import { sql, type Sql } from '#kernel';

/** A stream and the version that it was read at: what `unchanged` holds. */
export type StreamVersion = { readonly stream: string; readonly version: number };

/**
 * A `Snapshot` as jsonb, of the row of event_store.streams that the statement knows by that alias; `more` are expressions
 * to go with it.
 */
export const buildSnapshotJson = (alias: string, more: Readonly<Record<string, string>> = {}): Sql => {
  const own = { version: `${alias}.version`, decider: `${alias}.decider`, state: `${alias}.state` };
  const members = Object.entries({ ...own, ...more }).map(([name, expression]) => `'${name}', ${expression}`);
  return sql.raw(`jsonb_build_object(${members.join(', ')})`);
};

/** The same of a stream that is not joined; null where there is none. `stream` is the column with its id. */
export const selectSnapshotJson = (stream: string): Sql =>
  sql`(select ${buildSnapshotJson('its')} from event_store.streams its where its.stream = ${sql.raw(stream)})`;

/**
 * `Held[]` as jsonb: those of the streams that there are, in one order, since they are locked in it. `streams` is an array;
 * nulls in it are passed over.
 */
export const selectStreamVersions = (streams: Sql): Sql => sql`coalesce((
  select jsonb_agg(jsonb_build_object('stream', stream, 'version', version) order by stream) from event_store.streams
   where stream = any (${streams})), '[]')`;
