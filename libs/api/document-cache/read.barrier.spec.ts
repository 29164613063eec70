import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import type { Identity } from '#api/access';
import { MAX_LOG_CHANGES, type LogChange } from '#storage/event-store';
import { sql, type Sql } from '#platform/kernel';
import type { Database, DatabaseSession } from '#platform/postgres';
import { freshDatabase, type TestDatabase } from '../../../test/support/database.js';
import { appendOn, createLampLit, lampHung, TestEventStore, waitForCondition } from '../../storage/event-store/spec.js';
import type { ResourceKeys, ResourceReader, LoadedRow } from './resources-in-memory.js';
import { ReadBarrier } from './read.barrier.js';

let testDatabase: TestDatabase;
let testStore: TestEventStore;
let barrier: ReadBarrier;
let reported: Reported;

/** A resource that takes longer to read than a check may take. */
const ENDLESS = 'lamp-endless';

/** Collects the streams of changes; `anything` if anything may have changed. */
class Reported implements ResourceReader {
  readonly read: string[] = [];
  private streams: string[] = [];

  /** The resources of these tests are the streams of the log. */
  select({ ids }: ResourceKeys): Sql {
    if (ids.includes(ENDLESS)) return sql`select ${ENDLESS} as id from pg_sleep(60)`;
    return sql`select stream as id, version from event_store.streams where stream = any (${ids}::text[])`;
  }

  onRead({ ids }: ResourceKeys, rows: readonly (LoadedRow & { readonly version?: number })[]): void {
    this.read.push(`${ids.join()}: ${rows.map(({ id, version }) => `${id} ${version}`).join()}`);
  }

  onChanges(changes: readonly LogChange[]): void {
    this.streams.push(...changes.map(({ stream }) => stream));
  }

  onUnknownChanges(): void {
    this.streams.push('anything');
  }

  take(): string[] {
    return this.streams.splice(0);
  }
}

beforeEach(async () => {
  testDatabase = await freshDatabase();
  testStore = await TestEventStore.over(testDatabase.url);
  reported = new Reported();
  barrier = new ReadBarrier(testStore.database, reported);
  await barrier.open();
  reported.take();
  await run(
    `insert into views.authentication_tokens (id, kind, owner, created_at) values ('at-1', 'user', 'user-1', now())`,
  );
  await run(`insert into access.token_hashes (token, hash) values ('at-1', 'x')`);
});

afterEach(async () => {
  await barrier.close();
  await testStore.close();
  await testDatabase.drop();
});

const run = (text: string) => testStore.database.rows(sql.raw(text));

const ADA = { token: 'at-1', subjects: '{user-1,team-1}', epoch: 0, snapshot: null } as unknown as Identity;

const pass = (identity: Identity = ADA): Promise<boolean> => new Promise((resolve) => barrier.pass(identity, resolve));

/** Lets one request pass. Returns whether it did, and what the check reported. */
const check = async (identity: Identity = ADA): Promise<readonly [boolean, readonly string[]]> => [
  await pass(identity),
  reported.take(),
];

type Intercept = <T>(run: () => Promise<T[]>, onEnd: () => void) => Promise<T[]>;

/** Opens another barrier whose statements go through `intercept`. */
const openWith = async (intercept: Intercept): Promise<void> => {
  await barrier.close();
  reported.take();
  const { database } = testStore;
  const open = database.session.bind(database);
  const session = async (onEnd: () => void): Promise<DatabaseSession> => {
    const opened = await open(onEnd);
    const run = <T>(...statement: Parameters<DatabaseSession['run']>): Promise<T[]> =>
      intercept(() => opened.run<T>(...statement), onEnd);
    return { ...opened, run };
  };
  barrier = new ReadBarrier({ count: database.count, session } as unknown as Database, reported);
  await barrier.open();
};

const uuid = (n: number): string => `0190f3a0-ffff-7000-8000-${String(n).padStart(12, '0')}`;

/** Begins a transaction with an append and leaves it open. */
const appendLate = async (stream: string, id: string): Promise<pg.Client> => {
  const client = await testStore.connect();
  await client.query('begin');
  await appendOn(client, stream, id);
  return client;
};

describe('a request', () => {
  it('passes, and each event that was committed before it is reported once', async () => {
    expect(await check()).toEqual([true, []]);
    await testStore.append('lamp-1', 0, lampHung('cellar'));
    await testStore.append('lamp-1', 1, createLampLit('ada'));
    expect(await check()).toEqual([true, ['lamp-1', 'lamp-1']]);
    expect(await check()).toEqual([true, []]);
  });

  it('gets an event whose transaction commits after later ones, however many checks came before', async () => {
    const late = await appendLate('lamp-late', uuid(1));
    await testStore.append('lamp-2', 0, lampHung('cellar'));
    expect(await check()).toEqual([true, ['lamp-2']]);
    await testStore.append('lamp-3', 0, lampHung('hall'));
    expect(await check()).toEqual([true, ['lamp-3']]);
    await late.query('commit');
    expect(await check()).toEqual([true, ['lamp-late']]);
    expect(await check()).toEqual([true, []]);
  });

  it('gets no event of a transaction that is rolled back', async () => {
    const late = await appendLate('lamp-late', uuid(1));
    expect(await check()).toEqual([true, []]);
    await late.query('rollback');
    expect(await check()).toEqual([true, []]);
  });

  it('does not pass if more events came than are listed', async () => {
    await run(`
      insert into event_store.events (id, stream, version, type, schema_version, organization, time, data, context)
      select gen_random_uuid(), 'lamp-1', n, 'LampLit', 1, 'org-1', now(), '{}', '{}'
        from generate_series(1, ${MAX_LOG_CHANGES + 1}) n`);
    expect(await check()).toEqual([false, ['anything']]);
    expect(await check()).toEqual([true, []]);
  });

  it('shares a statement with all requests that wait', async () => {
    const before = testStore.database.count.statements;
    expect(await Promise.all(Array.from({ length: 50 }, () => pass()))).toEqual(Array.from({ length: 50 }, () => true));
    expect(testStore.database.count.statements - before).toBe(1);
  });

  it('gets the resources that it needs from the statement of its check, which does not exceed a limit', async () => {
    await testStore.append('lamp-1', 0, lampHung('cellar'));
    const read = (...ids: readonly string[]) =>
      new Promise((resolve) => barrier.pass(ADA, resolve, { ids, names: [] }));
    expect(await Promise.all([read('lamp-1', 'lamp-2'), pass(), read('lamp-1')])).toEqual([true, true, true]);
    expect([reported.take(), reported.read.splice(0)]).toEqual([['lamp-1'], ['lamp-1,lamp-2: lamp-1 1']]);
    const many = (first: number) => Array.from({ length: 150 }, (_, n) => `lamp-${first + n}`);
    await Promise.all([read(...many(1)), read(...many(1_000))]);
    expect(reported.read).toEqual([`${many(1).join()}: lamp-1 1`, `${many(1_000).join()}: `]);
  });

  it('gets the changes once, however many resources the statement reads', async () => {
    const rows: unknown[] = [];
    await openWith(async (run) => {
      const received = await run();
      rows.push(...received);
      return received;
    });
    for (const n of [1, 2, 3]) await testStore.append(`lamp-${n}`, 0, lampHung(`room ${n}`));
    rows.length = 0;
    const keys = { ids: ['lamp-1', 'lamp-2', 'lamp-3'], names: [] };
    expect(await new Promise((resolve) => barrier.pass(ADA, resolve, keys))).toBe(true);
    expect(reported.take()).toEqual(['anything', 'lamp-1', 'lamp-2', 'lamp-3']);
    expect(reported.read).toHaveLength(1);
    expect((rows as { changes: unknown }[]).map(({ changes }) => changes !== null)).toEqual([true, false, false]);
  });

  it('passes without the resources of others if reading them takes too long, and nothing is dropped', async () => {
    await testStore.append('lamp-1', 0, lampHung('cellar'));
    const large = new Promise((resolve) => barrier.pass(ADA, resolve, { ids: [ENDLESS], names: [] }));
    expect(await Promise.all([large, pass()])).toEqual([false, true]);
    expect([reported.take(), reported.read, barrier.isOpen]).toEqual([['lamp-1'], [], true]);
    expect(await check()).toEqual([true, []]);
  });

  it('waits for a statement that is sent after it, not for one that is under way', async () => {
    const first = pass();
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    const before = testStore.database.count.statements;
    await Promise.all([first, pass()]);
    expect(testStore.database.count.statements - before).toBe(1);
  });
});

describe('a caller', () => {
  it.each([
    ['the token is deleted', `delete from access.token_hashes`],
    ['the access of the caller changes', `select access.raise_epoch('user-1')`],
    ['the access of a team of the caller changes', `select access.raise_epoch('team-1')`],
  ])('does not pass after %s', async (_, change) => {
    await run(change);
    expect(await check()).toEqual([false, []]);
  });

  it('passes after the access of others has changed', async () => {
    await run(`select access.raise_epoch('user-2')`);
    expect(await check()).toEqual([true, []]);
  });

  it('is checked by the changes since it was read if it has many subjects', async () => {
    const [{ snapshot } = { snapshot: null }] = await testStore.database.rows<{ snapshot: string }>(
      sql`select pg_current_snapshot()::text as snapshot`,
    );
    const many = { ...ADA, snapshot } as Identity;
    await run(`select access.raise_epoch('user-2')`);
    expect(await check(many)).toEqual([true, []]);
    await run(`select access.raise_epoch('team-1')`);
    expect(await check(many)).toEqual([false, []]);
  });

  it('does not stop other callers that wait for the same statement', async () => {
    const stranger = { ...ADA, token: 'at-2' };
    expect(await Promise.all([pass(), pass(stranger), pass(), pass({ ...ADA })])).toEqual([true, false, true, true]);
  });
});

describe('no request passes', () => {
  it('while Postgres refuses the connection, whose end is reported after the refusal', async () => {
    const ends: (() => void)[] = [];
    const session = (onEnd: () => void): Promise<DatabaseSession> => {
      ends.push(onEnd);
      return Promise.reject(new Error('connect ECONNREFUSED'));
    };
    const unreachable = new ReadBarrier({ session } as unknown as Database, reported);
    await unreachable.open();
    expect(ends).toHaveLength(1);
    expect(() => ends[0]?.()).not.toThrow();
    expect(unreachable.isOpen).toBe(false);
    await unreachable.close();
  });

  it('if the end of the connection arrives with the response, until there is a new connection', async () => {
    let ends = false;
    await openWith(async (run, onEnd) => {
      const rows = await run();
      if (ends) onEnd();
      return rows;
    });
    ends = true;
    expect([await pass(), barrier.isOpen]).toEqual([false, false]);
    ends = false;
    await waitForCondition(() => barrier.isOpen);
    expect(await pass()).toBe(true);
  });

  it('from the end of the connection until there is a new one', async () => {
    const cut = `select pg_terminate_backend(pid) from pg_stat_activity
                  where datname = current_database() and query like '%as snapshot,%' and pid <> pg_backend_pid()`;
    await run(cut);
    await waitForCondition(async () => !(await pass()));
    expect(reported.take()).toContain('anything');
    await waitForCondition(() => barrier.isOpen);
    reported.take();
    await testStore.append('lamp-1', 0, lampHung('cellar'));
    expect(await check()).toEqual([true, ['lamp-1']]);
  });

  it('while names of a forgotten person are being removed from views', async () => {
    await run(`insert into event_store.person_keys (person, key) values ('user-2', null)`);
    expect(await check()).toEqual([false, ['anything']]);
    expect(barrier.isOpen).toBe(false);
    await run(`update event_store.person_keys set cleaned_at = now()`);
    await waitForCondition(() => barrier.isOpen);
    reported.take();
    expect(await check()).toEqual([true, []]);
  });

  it('at the first check after the exchange of a rebuilt view', async () => {
    await run(`update event_store.view_versions set changed_at = now() where view = 'workspaces'`);
    expect(await check()).toEqual([false, ['anything']]);
    expect(await check()).toEqual([true, []]);
  });

  it('after the barrier is closed', async () => {
    await barrier.close();
    expect([await pass(), barrier.isOpen]).toEqual([false, false]);
  });
});
