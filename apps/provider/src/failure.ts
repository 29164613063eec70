/** Why a publication ended, as the exit code tells it to scripts; 0 is none of these. */
export const EXIT_CODES = { refused: 1, usage: 2, unreachable: 3, stopped: 130 } as const;

export type FailureKind = keyof typeof EXIT_CODES;

/** The end of a command, told in lines that a person can act on. Everything else that is thrown is a fault of ours. */
export class Failure extends Error {
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
export const refused = (...problems: readonly string[]): Failure => new Failure('refused', problems);

/** What was asked for, or what is set on this machine, cannot be. */
export const badUsage = (problem: string): Failure => new Failure('usage', [problem]);

/** Nobody answers, or only with faults. */
export const unreachable = (problem: string): Failure => new Failure('unreachable', [problem]);
