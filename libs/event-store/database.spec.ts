import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freshDatabase, type TestDatabase } from '../../test/support/database.js';
import { sql, type Sql } from '#kernel';
import { Database } from './database.js';

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

describe('a statement that may take seconds', () => {
  it('keeps nobody waiting but those of its kind', async () => {
    const holder = await database.session();
    await holder.run(sql`select pg_advisory_lock(7)`);
    const answers: string[] = [];
    const asked = (name: string): Sql => sql`select ${name}::text as asked`;
    const slow = [sql`select pg_advisory_lock(7)`, asked('after it')].map(async (statement, n) => {
      await database.rows(sql.slow(statement));
      answers.push(`slow ${n}`);
    });
    for (const name of ['one', 'two']) {
      await database.rows(asked(name));
      answers.push(name);
    }
    await holder.run(sql`select pg_advisory_unlock(7)`);
    await Promise.all(slow);
    expect(answers).toEqual(['one', 'two', 'slow 0', 'slow 1']);
    await holder.close();
  });
});

describe('a statement', () => {
  it('is prepared, once for all of its values', async () => {
    for (const value of ['one', 'two']) {
      expect(await database.rows(sql`select ${value}::text as asked`)).toEqual([{ asked: value }]);
    }
    expect(await prepared()).toEqual(['select $1::text as asked']);
  });

  it('that is not to be kept leaves nothing behind, whatever comes before, beside and after it', async () => {
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
