declare global {
  interface JSON {
    /** In Node since 21; TypeScript's library does not have it yet. */
    rawJSON(text: string): object;
    parse(
      text: string,
      reviver: (this: unknown, key: string, value: unknown, context: { readonly source?: string }) => unknown,
    ): unknown;
  }
}

/**
 * Parses JSON that JSON.stringify writes again with the same numbers. A number that a double cannot hold exactly, such as
 * 9007199254740993, becomes the object of JSON.rawJSON with its text.
 */
export const parseExactly = (text: string): unknown =>
  JSON.parse(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && String(value) !== source ? JSON.rawJSON(source) : value,
  );
