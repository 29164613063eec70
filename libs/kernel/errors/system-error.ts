/** The `code` of an error such as ENOENT, null where it has none. */
export const getErrorCode = (error: unknown): string | null =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
