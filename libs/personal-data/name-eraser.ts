import { sql, type NameColumn, type Sql } from '#kernel';
import {
  computeLockKey,
  isRetryableError,
  pause,
  type Database,
  type DatabaseSession,
  type ScheduledJob,
} from '#postgres';
import { groupByTable, isAnyNamed, ACQUIRE_NAMES_LOCK, buildNameErasure } from './name-columns.js';

const INTERVAL_MS = 10_000;
const LOCK_RETRY_MS = 200;
// In a transaction of its own: whoever writes waits for no more than that, and no follower for a long one.
const ROWS_PER_PAGE = 1_000;

type ErasureOptions = {
  /** Where it says so, the rest is left for the next time. */
  readonly signal?: AbortSignal;
  /** So many rows more have been looked at. */
  readonly seen?: (rows: number, table: string) => void;
};

/** Where people are named, and how a row is told that names one of them, and what is set there. */
type NameTable = {
  readonly table: string;
  /** The columns of the primary key. */
  readonly key: readonly string[];
  readonly names: (people: readonly string[]) => Sql;
  readonly set: (people: readonly string[]) => Sql;
  /** Whether a follower writes there, which may carry on what it has read there. */
  readonly followed: boolean;
};

/** Whether a state knows `person` as somebody: { type, id, name }. */
const mentionsPerson = (state: string): Sql => sql.raw(`strpos(${state}::text, '"id": "' || person || '"') > 0`);

/** The states that streams are kept in: what names somebody is dropped, and folded anew when it is wanted. */
const STREAMS: NameTable = {
  table: 'event_store.streams',
  key: ['stream'],
  names: (people) => sql`exists (select from unnest(${people}::text[]) person where ${mentionsPerson('state')})`,
  set: () => sql`decider = null, state = null`,
  followed: false,
};

/** A view whose tables name people. `follower` is null if the view is written in the append's transaction. */
export type ViewWithNames = { readonly names: readonly NameColumn[]; readonly follower: object | null };

/**
 * Takes the names of people out of views and snapshots once they have been forgotten: nobody can write them any more, but
 * what was written before is read until then. It goes through all that names people, by primary key, a little at a time,
 * and rests as long as each took. Who is still to be done is known by their key, so any process can go on where one died;
 * it begins anew, which does no harm.
 */
export class NameEraser {
  constructor(
    private readonly database: Database,
    private readonly views: readonly ViewWithNames[],
  ) {}

  /** Resolves when nobody is left who had been forgotten when it was called, or when it is to stop. */
  async finish({ signal, seen = () => undefined }: ErasureOptions = {}): Promise<void> {
    const session = await this.database.session();
    try {
      if (!(await acquireErasureLock(session, signal))) return;
      const rows = await session.run<{ person: string }>(SELECT_PEOPLE_TO_ERASE);
      const people = rows.map(({ person }) => person);
      if (people.length === 0) return;
      for (const place of [STREAMS, ...(await listNameTables(this.views, session))]) {
        if (!(await eraseFrom(session, { place, people }, { signal, seen }))) return;
      }
      await session.run(sql`
        update event_store.person_keys set cleaned_at = now() where person = any (${people}::text[]) and key is null`);
    } finally {
      await session.close();
    }
  }
}

/** For those whose forgetting was not brought to its end. */
export const createNameErasureJob = (forgetting: NameEraser): ScheduledJob => ({
  name: 'forgotten_names',
  everyMs: INTERVAL_MS,
  run: ({ signal, done }) => forgetting.finish({ signal, seen: done }),
});

/** Who has been forgotten, and may still be named in a view or a snapshot. */
const SELECT_PEOPLE_TO_ERASE = sql`select person from event_store.person_keys where key is null and cleaned_at is null`;

/** Those of them whom this state may name. */
export const selectForgottenPeopleIn = (state: string): Sql =>
  sql`${SELECT_PEOPLE_TO_ERASE} and ${mentionsPerson(state)}`;

/** Two of them would do the same. False where it is to stop. */
const acquireErasureLock = async (session: DatabaseSession, signal: AbortSignal | undefined): Promise<boolean> => {
  const lock = computeLockKey('cadastre forgetting');
  while (!signal?.aborted) {
    const [taken] = await session.run<{ ok: boolean }>(sql`select pg_try_advisory_lock(${lock}) as ok`);
    if (taken?.ok) return true;
    await pause(LOCK_RETRY_MS, signal);
  }
  return false;
};

const listNameTables = async (
  views: readonly ViewWithNames[],
  session: DatabaseSession,
): Promise<readonly NameTable[]> => {
  const places: NameTable[] = [];
  for (const { names, follower } of views) {
    for (const [table, columns] of groupByTable(names)) {
      places.push(toNameTable(table, columns, await readPrimaryKey(table, session), follower !== null));
    }
  }
  return places;
};

const toNameTable = (
  table: string,
  columns: readonly NameColumn[],
  key: readonly string[],
  followed: boolean,
): NameTable => ({
  table: `views.${table}`,
  key,
  names: (people) => isAnyNamed(columns, people),
  set: (people) => buildNameErasure(columns, people),
  followed,
});

const readPrimaryKey = async (table: string, session: DatabaseSession): Promise<readonly string[]> => {
  const rows = await session.run<{ column: string }>(sql`
    select a.attname as column
      from pg_index i
      cross join unnest(i.indkey::smallint[]) with ordinality as k (number, place)
      join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.number
     where i.indrelid = ${`views.${table}`}::regclass and i.indisprimary and k.place <= i.indnkeyatts
     order by k.place`);
  return rows.map(({ column }) => column);
};

type ErasureTask = { readonly place: NameTable; readonly people: readonly string[] };

/** False where it was to stop before the end. */
const eraseFrom = async (
  session: DatabaseSession,
  work: ErasureTask,
  { signal, seen }: { readonly signal: AbortSignal | undefined; readonly seen: NonNullable<ErasureOptions['seen']> },
): Promise<boolean> => {
  const { table } = work.place;
  let after: PrimaryKey | null = null;
  for (;;) {
    if (signal?.aborted) return false;
    const began = performance.now();
    const page: ErasedPage = await erasePage(session, work, after);
    seen(page.rows, table);
    if (page.rows < ROWS_PER_PAGE) return true;
    after = page.last;
    await pause(performance.now() - began, signal);
  }
};

type PrimaryKey = readonly string[];
type ErasedPage = { readonly rows: number; readonly last: PrimaryKey | null };

/** The rows that come after a key: so many, and which was the last. */
const erasePage = async (
  session: DatabaseSession,
  work: ErasureTask,
  after: PrimaryKey | null,
): Promise<ErasedPage> => {
  const statement = buildErasurePage(work, after);
  for (;;) {
    try {
      const results = await session.pipeline([...(work.place.followed ? [ACQUIRE_NAMES_LOCK] : []), statement]);
      const page = results.map(([row]) => row as ErasedPage | undefined).find((row) => row?.rows !== undefined);
      return page ?? { rows: 0, last: null };
    } catch (error) {
      // Somebody writes to the same rows in another order, and it was us that had to give way.
      if (!isRetryableError(error)) throw error;
    }
  }
};

const buildErasurePage = (
  { place: { table, key, names, set }, people }: ErasureTask,
  after: PrimaryKey | null,
): Sql => {
  const columns = key.join(', ');
  const further =
    after === null
      ? sql.empty
      : sql`where (${sql.raw(columns)}) > (${sql.join(
          after.map((value) => sql`${value}`),
          ', ',
        )})`;
  const same = key.map((column) => `t.${column} = page.${column}`).join(' and ');
  return sql`
    with page as materialized (
      select ${sql.raw(columns)}, coalesce(${names(people)}, false) as theirs from ${sql.raw(table)} ${further}
       order by ${sql.raw(columns)} limit ${ROWS_PER_PAGE}),
    cleaned as (
      update ${sql.raw(table)} t set ${set(people)} from page where page.theirs and ${sql.raw(same)})
    select (select count(*) from page)::integer as rows, array[${sql.raw(key.map((column) => `${column}::text`).join(', '))}] as last
      from page order by ${sql.raw(key.map((column) => `${column} desc`).join(', '))} limit 1`;
};
