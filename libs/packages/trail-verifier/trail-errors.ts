/** How a log or a file differs from what was signed. */
export type TrailProblem =
  'altered' | 'inserted' | 'malformed' | 'moved' | 'removed' | 'rollback' | 'signature' | 'split-view' | 'time-stamp';

/** The verification failed: somebody changed the log or the file, or it is of another log. */
export class TrailAlteredError extends Error {
  override readonly name = 'TrailAlteredError';

  constructor(
    readonly problem: TrailProblem,
    message: string,
    /** Index of the first entry that differs, if it is known. */
    readonly index: number | null = null,
  ) {
    super(message);
  }
}

/** Returns the error of a proof that does not lead from an entry to the root of the checkpoint. */
export const createMisfitError = (index: number): TrailAlteredError =>
  new TrailAlteredError('altered', `the proof is not of this entry, or entry ${index} was altered`, index);

/** The verification is not possible: something could not be read, or a proof is not there. */
export class TrailUnreadableError extends Error {
  override readonly name = 'TrailUnreadableError';
}
