import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { compileStatement, sql, type Sql } from './sql.js';

describe('a statement', () => {
  it('has its values as parameters, whatever they hold', () => {
    const wicked = "'; drop table events; --";
    expect(compileStatement(sql`select ${1}, ${wicked}, ${null}`)).toEqual({
      text: 'select $1, $2, $3',
      values: [1, wicked, null],
    });
  });

  it('without values is its text', () => {
    expect(compileStatement(sql`select 1`)).toEqual({ text: 'select 1', values: [] });
  });

  it('from one place in the source has one text, each time with its own values', () => {
    const of = (id: string) => compileStatement(sql`select ${id}`);
    expect([of('a'), of('b')]).toEqual([
      { text: 'select $1', values: ['a'] },
      { text: 'select $1', values: ['b'] },
    ]);
  });

  it('nests pieces, and counts their parameters through', () => {
    const inner = sql`b = ${2} and ${sql`c = ${3}`}`;
    expect(compileStatement(sql`a = ${1} and ${inner} and d = ${4}`)).toEqual({
      text: 'a = $1 and b = $2 and c = $3 and d = $4',
      values: [1, 2, 3, 4],
    });
  });

  it('takes constants of ours as they are', () => {
    expect(compileStatement(sql`select ${sql.raw('id, name')} from t where id = ${7}`)).toEqual({
      text: 'select id, name from t where id = $1',
      values: [7],
    });
  });

  it('keeps a list as one parameter', () => {
    expect(compileStatement(sql`id = any (${['a', 'b']}::text[])`).values).toEqual([['a', 'b']]);
  });

  it('may hold an empty piece', () => {
    expect(compileStatement(sql`select 1${sql.empty} limit ${5}`)).toEqual({ text: 'select 1 limit $1', values: [5] });
  });
});

describe('pieces', () => {
  it('are joined by a separator', () => {
    expect(compileStatement(sql.join([sql`${1}`, sql`${2}`, sql`${3}`], ', '))).toEqual({
      text: '$1, $2, $3',
      values: [1, 2, 3],
    });
  });

  it('are nothing where there is none to join', () => {
    expect(compileStatement(sql.join([], ', '))).toEqual({ text: '', values: [] });
  });

  it('of a condition must all hold', () => {
    expect(compileStatement(sql.and([sql`a = ${1}`, sql`b = ${2}`])).text).toBe('a = $1 and b = $2');
  });

  it('of a condition that says nothing let everything through', () => {
    expect(compileStatement(sql.and([])).text).toBe('true');
  });

  it('for jsonb are text, lists too', () => {
    expect(sql.json(['a', { b: 1 }])).toBe('["a",{"b":1}]');
  });
});

describe('whatever is nested', () => {
  const leaf = fc.string().map((value) => ({ statement: sql`${value}`, values: [value] as readonly unknown[] }));
  const { tree } = fc.letrec<{ tree: { statement: Sql; values: readonly unknown[] } }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 5 },
      leaf,
      fc.array(tie('tree'), { maxLength: 4 }).map((parts) => ({
        statement: sql`(${sql.join(
          parts.map(({ statement }) => statement),
          ' or ',
        )})`,
        values: parts.flatMap(({ values }) => values),
      })),
    ),
  }));

  it('has every value once, in order, and none in the text', () => {
    fc.assert(
      fc.property(tree, ({ statement, values }) => {
        const compiled = compileStatement(statement);
        expect(compiled.values).toEqual(values);
        const parameters = [...compiled.text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number));
        expect(parameters).toEqual(values.map((_, index) => index + 1));
        expect(compiled.text.replaceAll(/\$\d+| or |[()]/g, '')).toBe('');
      }),
      { numRuns: 200 },
    );
  });
});
