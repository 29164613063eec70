/** Returns the `code` of a system error, such as ENOENT, or null if the error has no code. */
export const getErrorCode = (error: unknown): string | null =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;

/** Returns the message of an error, or the text of another value that was thrown. */
export const getErrorMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error));
