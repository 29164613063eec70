/**
 * An SQL statement or a fragment of one. Values always become parameters, and statements can be nested. Nothing else is
 * interpolated. `sql.raw` is for constants of this code, never for input.
 */
export class Sql {
  constructor(
    readonly strings: readonly string[],
    readonly values: readonly unknown[],
    /** Whether the connection prepares the statement under a name, to reuse its plan. */
    readonly isPrepared = true,
  ) {}
}

type CompiledStatement = { readonly text: string; readonly values: readonly unknown[] };

// A template without nested fragments always gives the same text, so the text is built once for each template.
const flatTexts = new WeakMap<readonly string[], string>();

export const compileStatement = (statement: Sql): CompiledStatement => {
  const { strings, values } = statement;
  if (!values.some((value) => value instanceof Sql)) {
    let text = flatTexts.get(strings);
    if (text === undefined) {
      text = strings.reduce((joined, chunk, index) => `${joined}$${index}${chunk}`);
      flatTexts.set(strings, text);
    }
    return { text, values };
  }
  let text = '';
  const parameters: unknown[] = [];
  const append = (piece: Sql): void => {
    piece.strings.forEach((chunk, index) => {
      text += chunk;
      if (index >= piece.values.length) return;
      const value = piece.values[index];
      if (value instanceof Sql) append(value);
      else text += `$${parameters.push(value)}`;
    });
  };
  append(statement);
  return { text, values: parameters };
};

const tag = (strings: TemplateStringsArray, ...values: readonly unknown[]): Sql => new Sql(strings, values);

const join = (pieces: readonly Sql[], separator: string): Sql => {
  if (pieces.length === 0) return new Sql([''], []);
  return new Sql(['', ...pieces.slice(1).map(() => separator), ''], pieces);
};

export const sql = Object.assign(tag, {
  raw: (text: string): Sql => new Sql([text], []),
  join,
  empty: new Sql([''], []),
  /** Joins conditions with `and`; `true` if there are none. */
  and: (conditions: readonly Sql[]): Sql => (conditions.length === 0 ? sql.raw('true') : join(conditions, ' and ')),
  /**
   * Returns a statement that Postgres plans for the current values and does not keep. A prepared statement gets one
   * plan for all values after a few executions. That plan is bad if some values match few rows and others match all of
   * them. Use this for lists with filters, which also have many different texts.
   */
  unkept: ({ strings, values }: Sql): Sql => new Sql(strings, values, false),
  /** Returns the parameter for a jsonb column. Without it, arrays would become Postgres arrays. */
  json: (value: unknown): string => JSON.stringify(value),
});

/** Formats a column in JSON as documents have times. By itself, Postgres writes an offset there. */
export const selectJsonTimestamp = (column: string): Sql =>
  sql.raw(`to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`);
