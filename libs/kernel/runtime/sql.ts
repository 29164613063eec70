/**
 * A statement, or a piece of one. Values always become parameters; pieces nest; nothing else is interpolated.
 * `sql.raw` is for constants of ours, never for input.
 */
export class Sql {
  constructor(
    readonly strings: readonly string[],
    readonly values: readonly unknown[],
    /** Whether the database keeps the statement, prepared, for when it is asked again. */
    readonly kept = true,
  ) {}
}

export type CompiledStatement = { readonly text: string; readonly values: readonly unknown[] };

// A template without nested pieces always gives the same text: built once per place in the source.
const flatTexts = new WeakMap<readonly string[], string>();

export const compileStatement = (statement: Sql): CompiledStatement => {
  const { strings, values } = statement;
  if (!values.some((value) => value instanceof Sql)) {
    let text = flatTexts.get(strings);
    if (text === undefined) {
      text = strings.reduce((whole, chunk, index) => `${whole}$${index}${chunk}`);
      flatTexts.set(strings, text);
    }
    return { text, values };
  }
  let text = '';
  const parameters: unknown[] = [];
  const walk = (piece: Sql): void => {
    piece.strings.forEach((chunk, index) => {
      text += chunk;
      if (index >= piece.values.length) return;
      const value = piece.values[index];
      if (value instanceof Sql) walk(value);
      else text += `$${parameters.push(value)}`;
    });
  };
  walk(statement);
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
  /** All of them, or true where there is none. */
  and: (conditions: readonly Sql[]): Sql => (conditions.length === 0 ? sql.raw('true') : join(conditions, ' and ')),
  /**
   * A statement that is planned for its very values and then forgotten. Others are prepared, and after a few times their plan
   * is the same for all values: bad where a few rows match the one value and all of them another. For lists with filters,
   * of which there are many texts besides.
   */
  unkept: ({ strings, values }: Sql): Sql => new Sql(strings, values, false),
  /** A parameter for a jsonb column: arrays would otherwise become Postgres arrays. */
  json: (value: unknown): string => JSON.stringify(value),
});
