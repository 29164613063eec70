import { sql, type NameColumn, type Sql } from '#platform/kernel';
import {
  castRows,
  computeLockKey,
  isRetryableError,
  pause,
  type Database,
  type DatabaseSession,
  type ScheduledJob,
} from '#platform/postgres';
import { groupByTable, isAnyNamed, ACQUIRE_NAMES_LOCK, buildNameErasure } from './name-columns.js';

const INTERVAL_MS = 10_000;
const LOCK_RETRY_MS = 200;
// Each page is a transaction of its own: other writers wait only for one page, and no follower waits for a long
// transaction.
const ROWS_PER_PAGE = 1_000;

type ErasureOptions = {
  /** If it aborts, the rest is left for the next time. */
  readonly signal?: AbortSignal;
  /** Called with the number of rows that were checked. */
  readonly onExamined?: (rows: number, table: string) => void;
};

/**
 * A table that contains names of people, with the condition for a row that names one of them, and the assignments that
 * erase the names.
 */
type NameTable = {
  readonly table: string;
  readonly key: readonly string[];
  readonly names: (people: readonly string[]) => Sql;
  readonly set: (people: readonly string[]) => Sql;
  /** Whether a follower writes this table. A follower may copy names that it reads from its table. */
  readonly followed: boolean;
};

/** Returns the condition that a state contains `person` as { type, id, name }. */
const mentionsPerson = (state: string): Sql => sql.raw(`strpos(${state}::text, '"id": "' || person || '"') > 0`);

/**
 * The stored states of streams. A state that names the person is dropped, and folded again from events when it is
 * needed.
 */
const STREAMS: NameTable = {
  table: 'event_store.streams',
  key: ['stream'],
  names: (people) => sql`exists (select from unnest(${people}::text[]) person where ${mentionsPerson('state')})`,
  set: () => sql`decider = null, state = null`,
  followed: false,
};

/**
 * A view whose tables contain names of people. `follower` is null if the view is written in the append's transaction.
 */
type ViewWithNames = { readonly names: readonly NameColumn[]; readonly follower: object | null };

/**
 * Removes the names of forgotten people from views and snapshots. New rows cannot contain these names, but old rows
 * show them until they are erased. The eraser goes through all tables with names by primary key, one page at a time,
 * and pauses after each page as long as the page took. The table of keys shows whose names still have to be erased, so
 * any process can take over after a crash. It starts again from the beginning, which does no harm.
 */
export class NameEraser {
  constructor(
    private readonly database: Database,
    private readonly views: readonly ViewWithNames[],
  ) {}

  /** Resolves when the names of all people who were forgotten before the call are erased, or after an abort. */
  async finish({ signal, onExamined = () => undefined }: ErasureOptions = {}): Promise<void> {
    const session = await this.database.session();
    try {
      if (!(await acquireErasureLock(session, signal))) return;
      const rows = await session.run<{ person: string }>(SELECT_PEOPLE_TO_ERASE);
      const people = rows.map(({ person }) => person);
      if (people.length === 0) return;
      for (const table of [STREAMS, ...(await listNameTables(this.views, session))]) {
        if (!(await eraseFrom(session, { nameTable: table, people }, { signal, onExamined }))) return;
      }
      await session.run(sql`
        update event_store.person_keys set cleaned_at = now() where person = any (${people}::text[]) and key is null`);
    } finally {
      await session.close();
    }
  }
}

/** Returns the job that finishes erasures which were interrupted. */
export const createNameErasureJob = (forgetting: NameEraser): ScheduledJob => ({
  name: 'forgotten_names',
  everyMs: INTERVAL_MS,
  run: ({ signal, done }) => forgetting.finish({ signal, onExamined: done }),
});

/** Selects the people who have been forgotten and whose names may still be in a view or a snapshot. */
const SELECT_PEOPLE_TO_ERASE = sql`select person from event_store.person_keys where key is null and cleaned_at is null`;

/** Selects those of them that this state may contain. */
export const selectForgottenPeopleIn = (state: string): Sql =>
  sql`${SELECT_PEOPLE_TO_ERASE} and ${mentionsPerson(state)}`;

/** Waits for the lock, because two erasers would do the same work. Returns false if aborted. */
const acquireErasureLock = async (session: DatabaseSession, signal: AbortSignal | undefined): Promise<boolean> => {
  const lock = computeLockKey('cadastre forgetting');
  while (!signal?.aborted) {
    const [attempt] = await session.run<{ ok: boolean }>(sql`select pg_try_advisory_lock(${lock}) as ok`);
    if (attempt?.ok) return true;
    await pause(LOCK_RETRY_MS, signal);
  }
  return false;
};

const listNameTables = async (
  views: readonly ViewWithNames[],
  session: DatabaseSession,
): Promise<readonly NameTable[]> => {
  const tables: NameTable[] = [];
  for (const { names, follower } of views) {
    const own: NameTable[] = [];
    for (const [table, columns] of groupByTable(names)) {
      own.push(toNameTable(table, columns, await readPrimaryKey(table, session), follower !== null));
    }
    // Deletions and recoveries move rows between the tables of a view, also from one that was not scanned into one that was.
    tables.push(...own, ...(own.length > 1 ? own : []));
  }
  return tables;
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

type ErasureTask = { readonly nameTable: NameTable; readonly people: readonly string[] };

/** Returns false if aborted before the end. */
const eraseFrom = async (
  session: DatabaseSession,
  work: ErasureTask,
  {
    signal,
    onExamined,
  }: { readonly signal: AbortSignal | undefined; readonly onExamined: NonNullable<ErasureOptions['onExamined']> },
): Promise<boolean> => {
  const { table } = work.nameTable;
  let after: PrimaryKey | null = null;
  for (;;) {
    if (signal?.aborted) return false;
    const began = performance.now();
    const page: ErasedPage = await erasePage(session, work, after);
    onExamined(page.rows, table);
    if (page.rows < ROWS_PER_PAGE) return true;
    after = page.last;
    await pause(performance.now() - began, signal);
  }
};

type PrimaryKey = readonly string[];
type ErasedPage = { readonly rows: number; readonly last: PrimaryKey | null };

/** Erases the names in the page of rows after a key. Returns the number of rows and the last key. */
const erasePage = async (
  session: DatabaseSession,
  work: ErasureTask,
  after: PrimaryKey | null,
): Promise<ErasedPage> => {
  const statement = buildErasurePage(work, after);
  for (;;) {
    try {
      const results = await session.pipeline([...(work.nameTable.followed ? [ACQUIRE_NAMES_LOCK] : []), statement]);
      const [page] = castRows<ErasedPage>(results.at(-1) ?? []);
      return page ?? { rows: 0, last: null };
    } catch (error) {
      // Another transaction writes the same rows in another order, and Postgres ended this one.
      if (!isRetryableError(error)) throw error;
    }
  }
};

const buildErasurePage = (
  { nameTable: { table, key, names, set }, people }: ErasureTask,
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
