import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { freshDatabase, type TestDatabase } from '../../../test/support/database.js';
import { Database, runCombinedQueries } from '#platform/postgres';

let home: TestDatabase;
let database: Database;

beforeAll(async () => {
  home = await freshDatabase();
  database = new Database({ url: home.url, connections: 1, applicationName: 'test' });
});

afterAll(async () => {
  await database.close();
  await home.drop();
});

describe('runCombinedQueries', () => {
  const shapes = sql`
    select 'a' as id, 7::bigint as count, array['x', null] as list, '{"at": "2026-11-21T10:41:51.12+00:00"}'::jsonb as data,
           '2026-11-21 10:41:51.123456+02'::timestamptz as "createdAt", null::timestamptz as "endedAt"
    union all select 'b', -1, '{}', 'null', '2026-11-21 10:41:51Z', '2026-11-21 10:41:51.5Z' order by id`;

  it('returns the rows of each query', async () => {
    const before = database.count.statements;
    const results = await runCombinedQueries(database, [
      shapes,
      sql`select 1 as one where false`,
      sql`select ${'p'} as text`,
    ]);
    expect(database.count.statements - before).toBe(1);
    expect(results).toEqual([await database.rows(shapes), [], [{ text: 'p' }]]);
    expect(results[0]?.map((row) => row['createdAt'])).toEqual([
      '2026-11-21T08:41:51.123Z',
      '2026-11-21T10:41:51.000Z',
    ]);
  });

  it('leaves no prepared statement for several queries, because there are many combinations', async () => {
    const query = (name: string) => sql`select ${1}::int as ${sql.raw(name)}`;
    await runCombinedQueries(database, [query('one_of_two'), query('two_of_two')]);
    await runCombinedQueries(database, [query('by_itself')]);
    const preparedStatements = await database.rows(sql`select statement from pg_prepared_statements`);
    expect(JSON.stringify(preparedStatements)).toContain('by_itself');
    expect(JSON.stringify(preparedStatements)).not.toContain('one_of_two');
  });

  it('sends no statement if there are no queries', async () => {
    const before = database.count.statements;
    expect(await runCombinedQueries(database, [])).toEqual([]);
    expect(database.count.statements).toBe(before);
  });
});
