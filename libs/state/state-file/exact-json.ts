declare global {
  interface JSON {
    /** Available since Node 21, but missing in TypeScript's library. */
    rawJSON(text: string): object;
    parse(
      text: string,
      reviver: (this: unknown, key: string, value: unknown, context: { readonly source?: string }) => unknown,
    ): unknown;
  }
}

/** Numbers that a double may write in another form: long ones, and ones with a fraction, an exponent or a negative zero. */
const INEXACT_NUMBER = /(?:^|[[:,\s])(?:-?\d{16}|-?\d+[.eE]|-0)/;

/**
 * Returns whether `parseExactly` must compare each value with its text, which takes some 20 times as long: 2 s for a list of
 * 1 MiB. It is true for some texts without such numbers, because strings are not skipped.
 */
export const mayHaveInexactNumbers = (text: string): boolean => INEXACT_NUMBER.test(text);

/**
 * Parses JSON so that JSON.stringify writes the same numbers again. A number that a double cannot represent exactly,
 * such as 9007199254740993, becomes the object of JSON.rawJSON with its text.
 */
export const parseExactly = (text: string): unknown =>
  mayHaveInexactNumbers(text)
    ? JSON.parse(text, (_key, value, { source }) =>
        typeof value === 'number' && source !== undefined && String(value) !== source ? JSON.rawJSON(source) : value,
      )
    : JSON.parse(text);
