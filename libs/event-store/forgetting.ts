import { sql, type NameColumn, type Sql } from '#kernel';
import { lockKey } from './advisory-lock.js';
import type { Chore } from './chore-runner.js';
import type { Database, Session } from './database.js';
import { byTable, namesAny, TAKE_NAMES, withoutNames } from './names.js';
import { isWorthRepeating } from './postgres-errors.js';
import type { View } from './rebuild.js';
import { rest } from './rest.js';

const EVERY_MS = 10_000;
const TURN_MS = 200;
// In a transaction of its own: whoever writes waits for no more than that, and no follower for a long one.
const AT_ONCE = 1_000;

type Steps = {
  /** Where it says so, the rest is left for the next time. */
  readonly signal?: AbortSignal;
  /** So many rows more have been looked at. */
  readonly seen?: (rows: number, table: string) => void;
};

/** Where people are named, and how a row is told that names one of them, and what is set there. */
type Place = {
  readonly table: string;
  /** The columns of the primary key. */
  readonly key: readonly string[];
  readonly names: (people: readonly string[]) => Sql;
  readonly set: (people: readonly string[]) => Sql;
  /** Whether a follower writes there, which may carry on what it has read there. */
  readonly followed: boolean;
};

/** Whether a state knows `person` as somebody: { type, id, name }. */
const isIn = (state: string): Sql => sql.raw(`strpos(${state}::text, '"id": "' || person || '"') > 0`);

/** The states that streams are kept in: what names somebody is dropped, and folded anew when it is wanted. */
const STREAMS: Place = {
  table: 'event_store.streams',
  key: ['stream'],
  names: (people) => sql`exists (select from unnest(${people}::text[]) person where ${isIn('state')})`,
  set: () => sql`decider = null, state = null`,
  followed: false,
};

/**
 * Takes the names of people out of views and snapshots once they have been forgotten: nobody can write them any more, but
 * what was written before is read until then. It goes through all that names people, by primary key, a little at a time,
 * and rests as long as each took. Who is still to be done is known by their key, so any process can go on where one died;
 * it begins anew, which does no harm.
 */
export class Forgetting {
  constructor(
    private readonly database: Database,
    private readonly views: readonly View[],
  ) {}

  /** Resolves when nobody is left who had been forgotten when it was called, or when it is to stop. */
  async finish({ signal, seen = () => undefined }: Steps = {}): Promise<void> {
    const session = await this.database.session();
    try {
      if (!(await isOurTurn(session, signal))) return;
      const rows = await session.run<{ person: string }>(STILL_NAMED);
      const people = rows.map(({ person }) => person);
      if (people.length === 0) return;
      for (const place of [STREAMS, ...(await placesOf(this.views, session))]) {
        if (!(await clean(session, { place, people }, { signal, seen }))) return;
      }
      await session.run(sql`
        update event_store.person_keys set cleaned_at = now() where person = any (${people}::text[]) and key is null`);
    } finally {
      await session.close();
    }
  }
}

/** For those whose forgetting was not brought to its end. */
export const forgottenNames = (forgetting: Forgetting): Chore => ({
  name: 'forgotten_names',
  everyMs: EVERY_MS,
  run: ({ signal, done }) => forgetting.finish({ signal, seen: done }),
});

/** Who has been forgotten, and may still be named in a view or a snapshot. */
const STILL_NAMED = sql`select person from event_store.person_keys where key is null and cleaned_at is null`;

/** Those of them whom this state may name. */
export const namedIn = (state: string): Sql => sql`${STILL_NAMED} and ${isIn(state)}`;

/** Two of them would do the same. False where it is to stop. */
const isOurTurn = async (session: Session, signal: AbortSignal | undefined): Promise<boolean> => {
  const lock = lockKey('cadastre forgetting');
  while (!signal?.aborted) {
    const [taken] = await session.run<{ ok: boolean }>(sql`select pg_try_advisory_lock(${lock}) as ok`);
    if (taken?.ok) return true;
    await rest(TURN_MS, signal);
  }
  return false;
};

const placesOf = async (views: readonly View[], session: Session): Promise<readonly Place[]> => {
  const places: Place[] = [];
  for (const { names, follower } of views) {
    for (const [table, columns] of byTable(names)) {
      places.push(placeOf(table, columns, await keyOf(table, session), follower !== null));
    }
  }
  return places;
};

const placeOf = (table: string, columns: readonly NameColumn[], key: readonly string[], followed: boolean): Place => ({
  table: `views.${table}`,
  key,
  names: (people) => namesAny(columns, people),
  set: (people) => withoutNames(columns, people),
  followed,
});

const keyOf = async (table: string, session: Session): Promise<readonly string[]> => {
  const rows = await session.run<{ column: string }>(sql`
    select a.attname as column
      from pg_index i
      cross join unnest(i.indkey::smallint[]) with ordinality as k (number, place)
      join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.number
     where i.indrelid = ${`views.${table}`}::regclass and i.indisprimary and k.place <= i.indnkeyatts
     order by k.place`);
  return rows.map(({ column }) => column);
};

type Work = { readonly place: Place; readonly people: readonly string[] };

/** False where it was to stop before the end. */
const clean = async (
  session: Session,
  work: Work,
  { signal, seen }: { readonly signal: AbortSignal | undefined; readonly seen: NonNullable<Steps['seen']> },
): Promise<boolean> => {
  const { table } = work.place;
  let after: Key | null = null;
  for (;;) {
    if (signal?.aborted) return false;
    const began = performance.now();
    const page: Page = await cleanPage(session, work, after);
    seen(page.rows, table);
    if (page.rows < AT_ONCE) return true;
    after = page.last;
    await rest(performance.now() - began, signal);
  }
};

type Key = readonly string[];
type Page = { readonly rows: number; readonly last: Key | null };

/** The rows that come after a key: so many, and which was the last. */
const cleanPage = async (session: Session, work: Work, after: Key | null): Promise<Page> => {
  const statement = pageOf(work, after);
  for (;;) {
    try {
      const results = await session.pipeline([...(work.place.followed ? [TAKE_NAMES] : []), statement]);
      const page = results.map(([row]) => row as Page | undefined).find((row) => row?.rows !== undefined);
      return page ?? { rows: 0, last: null };
    } catch (error) {
      // Somebody writes to the same rows in another order, and it was us that had to give way.
      if (!isWorthRepeating(error)) throw error;
    }
  }
};

const pageOf = ({ place: { table, key, names, set }, people }: Work, after: Key | null): Sql => {
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
       order by ${sql.raw(columns)} limit ${AT_ONCE}),
    cleaned as (
      update ${sql.raw(table)} t set ${set(people)} from page where page.theirs and ${sql.raw(same)})
    select (select count(*) from page)::integer as rows, array[${sql.raw(key.map((column) => `${column}::text`).join(', '))}] as last
      from page order by ${sql.raw(key.map((column) => `${column} desc`).join(', '))} limit 1`;
};
