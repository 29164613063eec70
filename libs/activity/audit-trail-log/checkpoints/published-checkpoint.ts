import { EMPTY_ROOT, type LogCheckpoint } from '#packages/trail-verifier';
import { getOriginNumber } from '../logs/origin.js';
import type { LogFork } from '../logs/trail-log.js';

/** What the database knows about a log. */
type KnownLog = {
  readonly origin: string;
  /** Whether the log has keys of this origin. They are stored with its first checkpoint, or by the fork that began it. */
  readonly hasKeys: boolean;
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
  const { origin } = log;
  // An earlier origin was given up, and nothing was signed under the new one yet.
  if (published && getOriginNumber(published.origin) < getOriginNumber(origin)) return null;
  // A fork that did not reach the database leaves the empty checkpoint of its origin.
  const isUnfinishedFork = published?.size === 0 && published.origin !== origin;
  if (published === null || isUnfinishedFork) return findMissingCheckpoint(log);
  if (published.origin !== origin) return { reason: 'log_differs', published };
  if (published.size > log.size) return { reason: 'log_is_shorter', published };
  return published.root.equals(await computeRoot(published.size)) ? null : { reason: 'log_differs', published };
};

/** A checkpoint is published before the database contains it. A restore deletes checkpoints of leaves that it leaves out. */
const findMissingCheckpoint = ({ origin, last, hasKeys }: KnownLog): ForkFinding | null => {
  const checkpoint = last ?? (hasKeys ? { size: 0, root: EMPTY_ROOT } : null);
  return checkpoint && { reason: 'published_checkpoint_is_missing', published: { origin, ...checkpoint } };
};
