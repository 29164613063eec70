/** Why a publication ended, as the exit code tells it to scripts; 0 is none of these. */
export const EXIT_CODES = { refused: 1, usage: 2, unreachable: 3, stopped: 130 } as const;

export type FailureKind = keyof typeof EXIT_CODES;

/** The end of a command, told in lines that a person can act on. Everything else that is thrown is a fault of ours. */
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

/** The release is not as it must be, or the server says no. */
export const createRefusedError = (...problems: readonly string[]): CommandError =>
  new CommandError('refused', problems);

/** What was asked for, or what is set on this machine, cannot be. */
export const createUsageError = (problem: string): CommandError => new CommandError('usage', [problem]);

/** Nobody answers, or only with faults. */
export const createUnreachableError = (problem: string): CommandError => new CommandError('unreachable', [problem]);
