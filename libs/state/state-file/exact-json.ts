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

/**
 * Parses JSON so that JSON.stringify writes the same numbers again. A number that a double cannot represent exactly,
 * such as 9007199254740993, becomes the object of JSON.rawJSON with its text.
 */
export const parseExactly = (text: string): unknown =>
  JSON.parse(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && String(value) !== source ? JSON.rawJSON(source) : value,
  );
