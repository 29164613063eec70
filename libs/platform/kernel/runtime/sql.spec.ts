import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { compileStatement, sql, type Sql } from './sql.js';

describe('compileStatement', () => {
  it('passes values as parameters, whatever they contain', () => {
    const wicked = "'; drop table events; --";
    expect(compileStatement(sql`select ${1}, ${wicked}, ${null}`)).toEqual({
      text: 'select $1, $2, $3',
      values: [1, wicked, null],
    });
  });

  it('returns the text of a statement without values', () => {
    expect(compileStatement(sql`select 1`)).toEqual({ text: 'select 1', values: [] });
  });

  it('returns the same text with other values for the same template', () => {
    const of = (id: string) => compileStatement(sql`select ${id}`);
    expect([of('a'), of('b')]).toEqual([
      { text: 'select $1', values: ['a'] },
      { text: 'select $1', values: ['b'] },
    ]);
  });

  it('numbers the parameters of nested statements in one sequence', () => {
    const inner = sql`b = ${2} and ${sql`c = ${3}`}`;
    expect(compileStatement(sql`a = ${1} and ${inner} and d = ${4}`)).toEqual({
      text: 'a = $1 and b = $2 and c = $3 and d = $4',
      values: [1, 2, 3, 4],
    });
  });

  it('inserts the text of sql.raw unchanged', () => {
    expect(compileStatement(sql`select ${sql.raw('id, name')} from t where id = ${7}`)).toEqual({
      text: 'select id, name from t where id = $1',
      values: [7],
    });
  });

  it('passes a list as one parameter', () => {
    expect(compileStatement(sql`id = any (${['a', 'b']}::text[])`).values).toEqual([['a', 'b']]);
  });

  it('accepts an empty fragment', () => {
    expect(compileStatement(sql`select 1${sql.empty} limit ${5}`)).toEqual({ text: 'select 1 limit $1', values: [5] });
  });
});

describe('SQL fragments', () => {
  it('are joined with a separator', () => {
    expect(compileStatement(sql.join([sql`${1}`, sql`${2}`, sql`${3}`], ', '))).toEqual({
      text: '$1, $2, $3',
      values: [1, 2, 3],
    });
  });

  it('are an empty text if there are none to join', () => {
    expect(compileStatement(sql.join([], ', '))).toEqual({ text: '', values: [] });
  });

  it('are joined with `and`', () => {
    expect(compileStatement(sql.and([sql`a = ${1}`, sql`b = ${2}`])).text).toBe('a = $1 and b = $2');
  });

  it('are `true` if there is no condition', () => {
    expect(compileStatement(sql.and([])).text).toBe('true');
  });

  it('become JSON text for jsonb columns, lists included', () => {
    expect(sql.json(['a', { b: 1 }])).toBe('["a",{"b":1}]');
  });
});

describe('any nesting of fragments', () => {
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

  it('passes every value once and in order, and puts no value into the text', () => {
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
