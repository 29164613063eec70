import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { freshDatabase, type TestDatabase } from '../../../test/support/database.js';
import { waitUntil } from '../../../test/support/product.js';
import { sql, type Sql } from '#platform/kernel';
import { Database } from './database.js';
import { readMaxConnections } from './max-connections.js';

let testDatabase: TestDatabase;
let database: Database;

beforeEach(async () => {
  testDatabase = await freshDatabase();
  database = new Database({ url: testDatabase.url, connections: 1, applicationName: 'test' });
});
afterEach(async () => {
  await database.close();
  await testDatabase.drop();
});

const prepared = async (): Promise<string[]> => {
  const rows = await database.rows<{ statement: string }>(sql`select statement from pg_prepared_statements`);
  return rows.map(({ statement }) => statement).filter((text) => text.includes('asked'));
};

const ada = { id: 'user-ada' };
const bob = { id: 'user-bob' };
const selectText = (name: string): Sql => sql`select ${name}::text as asked`;
const locked = sql`select pg_advisory_lock_shared(7)`;

/** Makes every `locked` statement wait until the returned function is called. */
const acquireLock = async () => {
  const holder = await database.session();
  await holder.run(sql`select pg_advisory_lock(7)`);
  return async () => {
    await holder.run(sql`select pg_advisory_unlock(7)`);
    await holder.close();
  };
};

const waitingForLock = async (): Promise<number> => {
  const [row] = await database.rows<{ n: number }>(
    sql`select count(*)::int as n from pg_locks where locktype = 'advisory' and not granted
         and database = (select oid from pg_database where datname = current_database())`,
  );
  return row?.n ?? 0;
};

describe('a slow statement', () => {
  it('delays neither fast statements nor slow statements of other callers', async () => {
    const release = await acquireLock();
    const answers: string[] = [];
    const slow = [locked, locked, selectText('after them')].map(async (statement, n) => {
      await database.slowRows(ada, statement);
      answers.push(`ada ${n}`);
    });
    await waitUntil(async () => (await waitingForLock()) === 2, 'two statements wait for the lock');
    await database.rows(selectText('fast'));
    answers.push('fast');
    await database.slowRows(bob, selectText('slow'));
    answers.push('bob');
    await database.transaction([selectText('write')]);
    answers.push('write');
    // The third statement of the caller waits although a connection is idle.
    expect(await waitingForLock()).toBe(2);
    await release();
    await Promise.all(slow);
    expect(answers.slice(0, 3)).toEqual(['fast', 'bob', 'write']);
    expect(answers.slice(3).toSorted()).toEqual(['ada 0', 'ada 1', 'ada 2']);
  });

  it('is refused with 429 if its caller has too many slow statements', async () => {
    const url = testDatabase.url;
    const slow = { connections: 2, perCaller: 1, waitingPerCaller: 1 };
    const small = new Database({ url, connections: 1, applicationName: 'test', slow });
    const release = await acquireLock();
    const running = [locked, selectText('waits')].map((statement) => small.slowRows(ada, statement));
    await expect(small.slowRows(ada, selectText('too many'))).rejects.toMatchObject({
      kind: 'too-many',
      retryAfter: 5,
      problems: [{ detail: expect.stringMatching(/1 run and 1 wait/) }],
    });
    expect(await small.slowRows(bob, selectText('other'))).toEqual([{ asked: 'other' }]);
    await release();
    await Promise.all(running);
    expect(await small.slowRows(ada, selectText('again'))).toEqual([{ asked: 'again' }]);
    await small.close();
  });
});

describe('a read that takes too long', () => {
  it.each([
    ['rows', (impatient: Database) => impatient.rows(sql`select pg_sleep(60)`)],
    ['slowRows', (impatient: Database) => impatient.slowRows(ada, sql`select pg_sleep(60)`)],
  ])('is cancelled in Postgres and refused with 503: %s', async (_, read) => {
    const options = { url: testDatabase.url, connections: 1, applicationName: 'impatient' };
    const impatient = new Database({ ...options, readTimeoutMs: 100, slowReadTimeoutMs: 100 });
    await expect(read(impatient)).rejects.toMatchObject({
      kind: 'unavailable',
      retryAfter: 5,
      problems: [{ detail: expect.stringMatching(/did not answer within 0.1 s/) }],
    });
    expect(
      await database.rows(
        sql`select 1 from pg_stat_activity where application_name = 'impatient' and state = 'active'`,
      ),
    ).toEqual([]);
    expect(await impatient.rows(selectText('next'))).toEqual([{ asked: 'next' }]);
    await impatient.close();
  });
});

describe('a connection', () => {
  it('keeps a bounded number of prepared statements, the most recently used ones', async () => {
    const numbered = (n: number): Sql => sql`select ${n}::int as asked ${sql.raw(`/* ${n} */`)}`;
    for (let n = 0; n < 1_000; n += 1) {
      expect(await database.rows(numbered(n))).toEqual([{ asked: n }]);
      expect(await database.rows(numbered(0))).toEqual([{ asked: 0 }]);
    }
    const texts = await prepared();
    expect(texts.length).toBeLessThanOrEqual(400);
    expect(texts.some((text) => text.endsWith('/* 0 */'))).toBe(true);
    expect(texts.some((text) => text.endsWith('/* 999 */'))).toBe(true);
    expect(texts.some((text) => text.endsWith('/* 1 */'))).toBe(false);
    expect(await database.rows(numbered(1))).toEqual([{ asked: 1 }]);
  });

  it('limits the memory and the processors of one statement', async () => {
    const settings = sql`select name, setting from pg_settings
      where name in ('work_mem', 'max_parallel_workers_per_gather', 'jit') order by name`;
    expect(await database.rows(settings)).toEqual([
      { name: 'jit', setting: 'off' },
      { name: 'max_parallel_workers_per_gather', setting: '0' },
      { name: 'work_mem', setting: '8192' },
    ]);
  });
});

describe('a statement', () => {
  it('is prepared once for all values', async () => {
    for (const value of ['one', 'two']) {
      expect(await database.rows(sql`select ${value}::text as asked`)).toEqual([{ asked: value }]);
    }
    expect(await prepared()).toEqual(['select $1::text as asked']);
  });

  it('leaves no prepared statement if it is marked with sql.unkept, whatever runs before, beside and after it', async () => {
    const one = sql.unkept(sql`select ${1}::int as asked`);
    const two = sql.unkept(sql`select ${'b'}::text as also_asked, ${2}::int as asked`);
    expect(await database.rows(one)).toEqual([{ asked: 1 }]);
    expect(await Promise.all([database.rows(two), database.rows(one)])).toEqual([
      [{ also_asked: 'b', asked: 2 }],
      [{ asked: 1 }],
    ]);
    expect(await database.transaction([one, two, one])).toEqual([
      [{ asked: 1 }],
      [{ also_asked: 'b', asked: 2 }],
      [{ asked: 1 }],
    ]);
    expect(await prepared()).toEqual([]);
    await expect(database.rows(sql.unkept(sql`select asked from nowhere`))).rejects.toThrow('nowhere');
    expect(await database.rows(one)).toEqual([{ asked: 1 }]);
    const session = await database.session();
    expect([await session.run(two), await session.run(one)]).toEqual([[{ also_asked: 'b', asked: 2 }], [{ asked: 1 }]]);
    await session.close();
  });
});

describe('readMaxConnections', () => {
  it('returns the limit of the server', async () => {
    const [row] = await database.rows<{ setting: string }>(
      sql`select setting from pg_settings where name = 'max_connections'`,
    );
    expect(await readMaxConnections(database)).toBe(Number(row?.setting));
  });
});
