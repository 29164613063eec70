/** Exit codes by kind of failure. 0 is success. */
export const EXIT_CODES = { refused: 1, usage: 2, sandbox: 3 } as const;

/** A failure that the operator of the executor can correct. Any other error is a bug. */
export class ExecutorError extends Error {
  override readonly name = 'ExecutorError';

  constructor(
    readonly kind: keyof typeof EXIT_CODES,
    message: string,
  ) {
    super(message);
  }
}

/** A failure of a run. Its message is for the people who read the log of the run. */
export class RunError extends Error {
  override readonly name = 'RunError';
}
