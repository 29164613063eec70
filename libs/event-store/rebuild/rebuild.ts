import {
  projectEvent,
  sql,
  type LogPosition,
  type NameColumn,
  type Projection,
  type RecordedEvent,
  type Sql,
} from '#kernel';
import type { DatabaseRow, DatabaseSession } from '#postgres';
import type { EventStore } from '../event-store.js';
import { LOG_START, selectCheckpoint, writeCheckpoint, type Follower } from '../followers/follower.js';
import { buildErasureStatements } from '#personal-data';
import type { ModuleDefinition } from '../module-definition.js';

/**
 * Views made anew from the log, for `rebuild` and `verify`.
 *
 * Both write scratch copies: temporary tables of the same names, which the search path finds first, so that the very
 * same statements run. Unique indexes other than the key are left off the copies: live writers may have met in another
 * order than the log's, and a name freed by one stream may be taken by another "before".
 */
export type RebuildableView = {
  readonly name: string;
  readonly tables: readonly string[];
  readonly names: readonly NameColumn[];
  /** Types of the events that mean something to it; null: any may. */
  readonly only: readonly string[] | null;
  readonly apply: (
    events: readonly RecordedEvent[],
    session: DatabaseSession,
    store: EventStore,
  ) => Promise<readonly Sql[]>;
  readonly follower: Follower | null;
};

export const listViews = (slices: readonly ModuleDefinition[]): RebuildableView[] => [
  ...slices.flatMap((slice) => slice.projections.filter(hasTables).map(toInlineView)),
  ...slices.flatMap((slice) => slice.followers.filter(hasTables).map(toFollowerView)),
];

const hasTables = ({ tables }: Projection | Follower): boolean => tables.length > 0;

const toInlineView = (projection: Projection): RebuildableView => ({
  name: projection.name,
  tables: projection.tables,
  names: projection.names ?? [],
  only: Object.entries(projection.on).flatMap(([type, row]) => (row ? [type] : [])),
  apply: (events) => Promise.resolve(events.flatMap((event) => projectEvent(projection, event))),
  follower: null,
});

const toFollowerView = (follower: Follower): RebuildableView => ({
  name: follower.name,
  tables: follower.tables,
  names: follower.names ?? [],
  only: follower.only ?? null,
  apply: (events, session, store) => follower.follow(events, session, store),
  follower,
});

/** Each is a transaction, and followers wait for every one that runs. */
const PAGE = 1_000;

export type RebuildProgress = (view: string, events: number) => void;

type ReplayRange = {
  readonly from: LogPosition;
  readonly until?: LogPosition | null;
  /** Everything that is committed: asked for where no writer can add to it, for live inline views show all of it. */
  readonly extent?: 'settled' | 'committed';
};

/** Replays a stretch of the log, as `reader` sees it, into the scratch tables; resolves to the position reached. */
const replay = async (
  store: EventStore,
  { reader, session }: { readonly reader: DatabaseSession; readonly session: DatabaseSession },
  view: RebuildableView,
  { from, until, extent }: ReplayRange,
  progress: (events: number) => void,
): Promise<LogPosition> => {
  const read = (after: LogPosition): Promise<readonly RecordedEvent[]> =>
    store.read(after, PAGE, (statement) => reader.run(statement), {
      extent,
      only: view.only,
      keepEncrypted: view.follower?.keepEncrypted,
    });
  let position = from;
  let page = read(from);
  for (;;) {
    const batch = await page;
    const events = until ? batch.filter((event) => !isAfter(event, until)) : batch;
    const last = events.at(-1);
    if (!last) return position;
    position = { transaction: last.transaction, position: last.position };
    // It is read while this one is worked on; where that fails, nobody waits for it any more.
    page = read(position);
    page.catch(() => undefined);
    await session.pipeline(await view.apply(events, session, store));
    progress(events.length);
  }
};

/** A follower goes on from the position that is left for it, so that must be one that nothing can come before. */
const getLogExtent = (view: RebuildableView): 'settled' | 'committed' => (view.follower ? 'settled' : 'committed');

const isAfter = (a: LogPosition, b: LogPosition): boolean => {
  const [left, right] = [BigInt(a.transaction), BigInt(b.transaction)];
  return left > right || (left === right && a.position > b.position);
};

type ForgottenPerson = { readonly person: string; readonly cleaned: boolean };

const SELECT_FORGOTTEN_PEOPLE = sql`select person, cleaned_at is not null as cleaned from event_store.person_keys where key is null`;

/** What was read of somebody before they were forgotten tells their name. */
const forgetInScratch = async (
  session: DatabaseSession,
  view: RebuildableView,
  forgotten: readonly ForgottenPerson[],
): Promise<void> => {
  const people = forgotten.map(({ person }) => person);
  await session.pipeline(buildErasureStatements(view.names, people, (table) => `pg_temp.${table}`));
};

const makeScratch = async (session: DatabaseSession, view: RebuildableView): Promise<void> => {
  for (const table of view.tables) {
    const needless = view.follower?.growing?.includes(table) ? 'true' : 'indisunique';
    await session.run(sql.raw(`create temporary table ${table} (like views.${table} including all)`));
    await session.run(
      sql.raw(`do $$ declare _name text; begin
        for _name in select conname from pg_constraint where conrelid = 'pg_temp.${table}'::regclass and contype = 'u'
        loop execute format('alter table pg_temp.${table} drop constraint %I', _name); end loop;
        for _name in select indexrelid::regclass::text from pg_index
          where indrelid = 'pg_temp.${table}'::regclass and not indisprimary and ${needless}
        loop execute 'drop index ' || _name; end loop;
      end $$`),
    );
  }
};

type TableIndex = { readonly name: string; readonly definition: string };

/**
 * Puts the rows of the copy into the live table. Its indexes are made anew from all of them, which costs half of adding
 * them one by one; but not those on expressions, as what Postgres knows of their values would go with them.
 */
const replaceTableContent = async (session: DatabaseSession, table: string): Promise<void> => {
  const indexes = await session.run<TableIndex>(sql`
    select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition
      from pg_index
     where indrelid = ${`views.${table}`}::regclass
       and indexprs is null and not exists (select from pg_constraint where conindid = indexrelid)
     order by indexrelid`);
  await session.pipeline([
    sql.raw(`truncate views.${table}`),
    ...indexes.map(({ name }) => sql.raw(`drop index ${name}`)),
    sql.raw(`insert into views.${table} select * from pg_temp.${table}`),
    ...indexes.map(({ definition }) => sql.raw(definition)),
  ]);
};

/**
 * Replaces one view's rows by what the log says. Writers go on while the log is replayed; for the last stretch and the
 * exchange they wait.
 */
export const rebuildView = async (
  store: EventStore,
  view: RebuildableView,
  progress: RebuildProgress = () => undefined,
): Promise<void> => {
  const session = await store.database.session();
  try {
    await makeScratch(session, view);
    const report = (events: number): void => progress(view.name, events);
    const reached = await replay(store, { reader: session, session }, view, { from: LOG_START }, report);
    await session.run(sql`begin`);
    await session.run(sql`lock table event_store.events in share mode`);
    const end = await replay(
      store,
      { reader: session, session },
      view,
      { from: reached, extent: getLogExtent(view) },
      report,
    );
    await forgetInScratch(session, view, await session.run<ForgottenPerson>(SELECT_FORGOTTEN_PEOPLE));
    for (const table of view.tables) await replaceTableContent(session, table);
    if (view.follower) await session.run(writeCheckpoint(view.follower.name, end));
    await session.run(sql`commit`);
  } finally {
    await session.close();
  }
};

/** What differs between a live view and the log: none where both lists are empty. Each holds up to ten rows. */
export type ViewDifference = {
  readonly table: string;
  readonly missing: readonly DatabaseRow[];
  readonly surplus: readonly DatabaseRow[];
};

/**
 * The live tables as `reader` sees them, copied beside the scratch ones as live_…: in a transaction of its own, which is
 * over before the log is replayed. Followers wait for every transaction that writes, also for one that only writes here.
 */
const copyLive = async (reader: DatabaseSession, session: DatabaseSession, view: RebuildableView): Promise<void> => {
  const [exported] = await reader.run<{ snapshot: string }>(sql`select pg_export_snapshot() as snapshot`);
  await session.run(sql`begin isolation level repeatable read`);
  await session.run(sql.raw(`set transaction snapshot '${exported?.snapshot}'`));
  for (const table of view.tables) {
    await session.run(sql.raw(`create temporary table live_${table} as select * from views.${table}`));
  }
  await session.run(sql`commit`);
};

/** Prunes the copy of the live rows as well: what is past its retention may still be there, or not any more. */
const pruneBoth = async (session: DatabaseSession, view: RebuildableView, prune: Sql): Promise<void> => {
  const rename = async (from: string, to: string): Promise<void> => {
    for (const table of view.tables) {
      await session.run(sql.raw(`alter table pg_temp.${from}${table} rename to ${to}${table}`));
    }
  };
  await session.run(prune);
  await rename('', 'made_');
  await rename('live_', '');
  await session.run(prune);
  await rename('', 'live_');
  await rename('made_', '');
};

/** Compares a view with the log, both as of one moment; writers and followers go on. Nothing is changed. */
export const verifyView = async (
  store: EventStore,
  view: RebuildableView,
  now: Date,
  progress: RebuildProgress = () => undefined,
): Promise<ViewDifference[]> => {
  const reader = await store.database.session();
  const session = await store.database.session();
  try {
    await makeScratch(session, view);
    // One snapshot for the log and the live view. It only reads, so it has no transaction id that others wait for.
    await reader.run(sql`begin isolation level repeatable read, read only`);
    const [checkpoint] = view.follower ? await reader.run<LogPosition>(selectCheckpoint(view.follower.name)) : [];
    await copyLive(reader, session, view);
    const forgotten = await reader.run<ForgottenPerson>(SELECT_FORGOTTEN_PEOPLE);
    const until = view.follower ? (checkpoint ?? LOG_START) : null;
    const stretch = { from: LOG_START, until, extent: getLogExtent(view) };
    await replay(store, { reader, session }, view, stretch, (events) => progress(view.name, events));
    await forgetInScratch(session, view, forgotten);
    // The live ones may name them until they are cleaned.
    const named = forgotten.flatMap(({ person, cleaned }) => (cleaned ? [] : [person]));
    await session.pipeline(buildErasureStatements(view.names, named, (table) => `pg_temp.live_${table}`));
    if (view.follower?.prune) await pruneBoth(session, view, view.follower.prune(now));
    const differences: ViewDifference[] = [];
    for (const table of view.tables) {
      const only = (left: string, right: string): Promise<DatabaseRow[]> =>
        session.run(sql.raw(`select * from pg_temp.${left} except select * from pg_temp.${right} limit 10`));
      const missing = await only(table, `live_${table}`);
      const surplus = await only(`live_${table}`, table);
      if (missing.length + surplus.length > 0) differences.push({ table, missing, surplus });
    }
    return differences;
  } finally {
    await Promise.all([reader.close(), session.close()]);
  }
};
