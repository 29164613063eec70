import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#kernel';
import { freshDatabase, type TestDatabase } from '../../test/support/database.js';
import { Database, runCombinedQueries } from '#postgres';

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

describe('several queries in one statement', () => {
  const shapes = sql`
    select 'a' as id, 7::bigint as count, array['x', null] as list, '{"at": "2026-11-21T10:41:51.12+00:00"}'::jsonb as data,
           '2026-11-21 10:41:51.123456+02'::timestamptz as "createdAt", null::timestamptz as "endedAt"
    union all select 'b', -1, '{}', 'null', '2026-11-21 10:41:51Z', '2026-11-21 10:41:51.5Z' order by id`;

  it('find the rows that each of them finds', async () => {
    const before = database.count.statements;
    const found = await runCombinedQueries(database, [
      shapes,
      sql`select 1 as one where false`,
      sql`select ${'p'} as text`,
    ]);
    expect(database.count.statements - before).toBe(1);
    expect(found).toEqual([await database.rows(shapes), [], [{ text: 'p' }]]);
    expect(found[0]?.map((row) => row['createdAt'])).toEqual(['2026-11-21T08:41:51.123Z', '2026-11-21T10:41:51.000Z']);
  });

  it('leave no statement behind, for there may be many ways to choose them', async () => {
    const query = (name: string) => sql`select ${1}::int as ${sql.raw(name)}`;
    await runCombinedQueries(database, [query('one_of_two'), query('two_of_two')]);
    await runCombinedQueries(database, [query('by_itself')]);
    const kept = await database.rows(sql`select statement from pg_prepared_statements`);
    expect(JSON.stringify(kept)).toContain('by_itself');
    expect(JSON.stringify(kept)).not.toContain('one_of_two');
  });

  it('are none where there are no queries', async () => {
    const before = database.count.statements;
    expect(await runCombinedQueries(database, [])).toEqual([]);
    expect(database.count.statements).toBe(before);
  });
});
