import type { LogCheckpoint } from '#packages/trail-verifier';
import { getOriginNumber } from '../logs/origin.js';
import type { LogFork } from '../logs/trail-log.js';

/** What the database knows about a log. */
type KnownLog = {
  readonly origin: string;
  /** How many leaves the log has. */
  readonly size: number;
  /** The last checkpoint of this origin; null if there is none. */
  readonly last: Pick<LogCheckpoint, 'size' | 'root'> | null;
};

export type ForkFinding = {
  readonly reason: LogFork['reason'];
  /** The last checkpoint that is known to be published. */
  readonly published: LogCheckpoint;
};

/**
 * Compares the log in the database with the last checkpoint that was published. Returns why the database is older than it,
 * or null if the log continues it. `computeRoot` computes the root of the log at a size that it has reached.
 */
export const findFork = async (
  log: KnownLog,
  published: LogCheckpoint | null,
  computeRoot: (size: number) => Promise<Buffer>,
): Promise<ForkFinding | null> => {
  const { origin, last } = log;
  if (published === null) {
    // A checkpoint is published before the database contains it.
    return last && { reason: 'published_checkpoint_is_missing', published: { origin, ...last } };
  }
  if (published.origin !== origin) {
    // An earlier origin was given up, and nothing was signed under the new one yet.
    const isGivenUp = getOriginNumber(published.origin) < getOriginNumber(origin);
    return isGivenUp ? null : { reason: 'log_differs', published };
  }
  if (published.size > log.size) return { reason: 'log_is_shorter', published };
  return published.root.equals(await computeRoot(published.size)) ? null : { reason: 'log_differs', published };
};
