import { sql, type Sql } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import type { RebuildableView } from './views.js';

/** A view whose rows are of another version than this process writes. */
export type ViewVersionState = {
  readonly view: RebuildableView;
  /** Version of the stored rows; 0 if they were never computed from the complete log. */
  readonly stored: number;
  /** The lowest version that a connected process writes; null if none is connected. */
  readonly lowestWritten: number | null;
};

type VersionRow = { readonly view: string; readonly stored: number; readonly lowestWritten: number | null };

const toVersions = (views: readonly RebuildableView[]): Readonly<Record<string, number>> =>
  Object.fromEntries(views.map(({ name, version }) => [name, version]));

/**
 * Returns the statement that each connection runs before it writes views: see register_view_writer in
 * 006_view_versions.sql.
 */
export const buildWriterRegistration = (views: readonly RebuildableView[]): Sql =>
  sql`select event_store.register_view_writer(${sql.json(toVersions(views))})`;

/** Returns the views whose rows are of another version than their code, in the order of the list. */
export const listDifferentVersions = async (
  database: Database,
  views: readonly RebuildableView[],
): Promise<readonly ViewVersionState[]> => {
  const rows = await database.rows<VersionRow>(sql`
    select code.key as view, coalesce(v.version, 0) as stored,
           event_store.lowest_written_version(code.key) as "lowestWritten"
      from jsonb_each_text(${sql.json(toVersions(views))}::jsonb) code
      left join event_store.view_versions v on v.view = code.key
     where code.value::integer is distinct from coalesce(v.version, 0)`);
  const states = new Map(rows.map((row) => [row.view, row]));
  return views.flatMap((view) => {
    const state = states.get(view.name);
    return state ? [{ view, stored: state.stored, lowestWritten: state.lowestWritten }] : [];
  });
};

/**
 * Records the versions of views that are complete without a rebuild: all views while the log is empty, and a new
 * follower's view, which the follower fills from the start of the log. If a process of an earlier version is connected,
 * its version is recorded, because it may write the first rows.
 */
export const recordCompleteViews = async (database: Database, views: readonly RebuildableView[]): Promise<void> => {
  const followed = views.filter(({ follower }) => follower !== null).map(({ name }) => name);
  const session = await database.session();
  try {
    await session.pipeline([sql`select event_store.lock_view_writers()`, insertCompleteViews(views, followed)]);
  } finally {
    await session.close();
  }
};

/** The lock of writers keeps processes from connecting until the transaction has ended. */
const insertCompleteViews = (views: readonly RebuildableView[], followed: readonly string[]): Sql => sql`
  insert into event_store.view_versions as v (view, version)
  select code.key, least(code.value::integer, event_store.lowest_written_version(code.key))
    from jsonb_each_text(${sql.json(toVersions(views))}::jsonb) code
   where not exists (select from event_store.events)
      or (code.key = any (${followed}::text[])
          and not exists (select from event_store.checkpoints c where c.follower = code.key)
          and not exists (select from event_store.view_versions known where known.view = code.key))
  on conflict (view) do update set version = excluded.version, changed_at = now()
   where v.version < excluded.version`;

/**
 * Returns the statement that records the version of a view's rows right after a rebuild. A process of an earlier
 * version that still writes lowers it.
 */
export const writeViewVersion = ({ name, version }: RebuildableView): Sql => sql`
  insert into event_store.view_versions (view, version)
  values (${name}, least(${version}::integer, event_store.lowest_written_version(${name})))
  on conflict (view) do update set version = excluded.version, changed_at = now()`;

/**
 * Returns the condition that live rows of a view can be of an earlier version, or that a process of an earlier version
 * reads them. It is false for the copy that a rebuild fills.
 */
export const selectIsEarlierView = (view: string, version: number): Sql => sql`
  (current_schema() = 'views'
   and coalesce((select version from event_store.view_versions where view = ${view}), 0) < ${version})`;
