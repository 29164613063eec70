/** Exit codes by kind of failure. 0 is success. */
export const EXIT_CODES = { refused: 1, usage: 2, unreachable: 3, stopped: 130 } as const;

type FailureKind = keyof typeof EXIT_CODES;

/** An expected failure, described in lines that the user can act on. Any other error is a bug. */
export class CommandError extends Error {
  constructor(
    readonly kind: FailureKind,
    readonly problems: readonly string[],
  ) {
    super(problems.join('\n'));
    this.name = 'Failure';
  }

  get exitCode(): number {
    return EXIT_CODES[this.kind];
  }
}

/** The release is invalid, or the server refuses it. */
export const createRefusedError = (...problems: readonly string[]): CommandError =>
  new CommandError('refused', problems);

/** An option or a setting of this machine is wrong. */
export const createUsageError = (problem: string): CommandError => new CommandError('usage', [problem]);

/** The server cannot be reached, or keeps failing. */
export const createUnreachableError = (problem: string): CommandError => new CommandError('unreachable', [problem]);
