/**
 * The `code` of an error such as ENOENT, null where it has none. Not by `instanceof`: Node's own errors are none of the
 * `Error` that code in a `vm` context sees, and Jest runs tests in one.
 */
export const codeOf = (error: unknown): string | null =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string' ? error.code : null;
