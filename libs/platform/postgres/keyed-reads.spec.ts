import { describe, expect, it } from '@jest/globals';
import { compileStatement, sql, type Sql } from '#platform/kernel';
import type { DatabaseRow } from './database-row.js';
import type { KeyedQuery } from './keyed-queries.js';
import { KeyedReads } from './keyed-reads.js';

const byId = (key: string, caller = 'ada'): KeyedQuery => ({
  key,
  column: 'id',
  select: (ids) => sql`select id from lamps where id = any (${ids}) and owner = ${caller}`,
});

/** Answers each statement with the rows of its keys, and fails for one key. */
const createReads = (broken: string | null = null) => {
  const statements: (readonly unknown[])[] = [];
  const run = (statement: Sql): Promise<DatabaseRow[]> => {
    const { values } = compileStatement(statement);
    statements.push(values);
    const ids = values[0] as readonly string[];
    if (broken !== null && ids.includes(broken)) return Promise.reject(new Error(`${broken} is broken`));
    return Promise.resolve(ids.filter((id) => id !== 'missing').map((id) => ({ id, by: values[1] })));
  };
  return { reads: new KeyedReads(run), statements };
};

describe('queries of one turn', () => {
  it('share a statement if they differ only in the key, and get their own rows', async () => {
    const { reads, statements } = createReads();
    const rows = await Promise.all([
      ...['a', 'b', 'missing', 'a'].map((key) => reads.rows(byId(key))),
      reads.rows(byId('b', 'bob')),
    ]);
    expect(rows).toEqual([
      [{ id: 'a', by: 'ada' }],
      [{ id: 'b', by: 'ada' }],
      [],
      [{ id: 'a', by: 'ada' }],
      [{ id: 'b', by: 'bob' }],
    ]);
    expect(statements).toEqual([
      [['a', 'b', 'missing'], 'ada'],
      [['b'], 'bob'],
    ]);
  });

  it('fail only for the key that makes the statement fail', async () => {
    const { reads, statements } = createReads('b');
    const results = await Promise.allSettled(['a', 'b', 'c'].map((key) => reads.rows(byId(key))));
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(statements).toHaveLength(4);
  });
});
