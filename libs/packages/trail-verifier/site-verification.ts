import { hash } from 'node:crypto';
import { formatCheckpoint, type LogCheckpoint } from './checkpoints.js';
import { verifyLog } from './log-verification.js';
import type { OpenedCheckpoint } from './opened-checkpoints.js';
import type { LogFileReader } from './tile-source.js';
import { TrailAlteredError, TrailUnreadableError } from './trail-errors.js';
import type { VerifierKey } from './verifier-keys.js';

/** An entry has the SHA-256 of the origin of a log, and the SHA-256 of the text of one of its checkpoints. */
const DIGEST_BYTES = 32;

/** Reads and verifies the log of a site, and returns what it has of the log with an origin. */
export const verifySite = async (
  read: LogFileReader,
  { keys, origin }: { readonly keys: readonly VerifierKey[]; readonly origin: string },
): Promise<SiteEntries> => {
  const name = hash('sha256', origin, 'buffer');
  const digests = new Set<string>();
  const { checkpoint, firstBundled } = await verifyLog(read, {
    keys,
    onEntry: (entry) => {
      if (entry.length !== 2 * DIGEST_BYTES) throw new TrailUnreadableError('--site: names no log of a site');
      if (name.equals(entry.subarray(0, DIGEST_BYTES))) digests.add(entry.toString('base64', DIGEST_BYTES));
    },
  });
  if (firstBundled > 0) throw new TrailUnreadableError(`the log of the site lacks its first ${firstBundled} entries`);
  return new SiteEntries(origin, checkpoint, digests);
};

/** The digests of the checkpoints of one log that the log of the site has. */
export class SiteEntries {
  private readonly compared = new Set<string>();
  private newest = 0;

  constructor(
    private readonly origin: string,
    /** Of the log of the site. */
    readonly checkpoint: OpenedCheckpoint,
    private readonly digests: ReadonlySet<string>,
  ) {}

  /** Compares the root of the log at a size with the entries. */
  compareRoot(size: number, root: Buffer): void {
    const digest = computeDigest({ origin: this.origin, size, root });
    if (!this.digests.has(digest)) return;
    this.compared.add(digest);
    this.newest = size;
  }

  /**
   * Returns how many entries the log had at the newest checkpoint in the log of the site. Throws TrailAlteredError if an
   * entry is of none of the roots that were compared: a checkpoint of another history was signed.
   */
  requireOneHistory(): number {
    const others = this.digests.size - this.compared.size;
    if (others > 0) {
      throw new TrailAlteredError(
        'split-view',
        `the log of the site has checkpoints of another history of ${this.origin}: ${others}`,
      );
    }
    if (this.newest === 0) {
      throw new TrailUnreadableError(`the log of the site has no checkpoint of ${this.origin}`);
    }
    return this.newest;
  }

  /** Throws TrailUnreadableError unless the log of the site has the checkpoint. */
  requireCheckpoint(checkpoint: LogCheckpoint): void {
    if (checkpoint.origin === this.origin && this.digests.has(computeDigest(checkpoint))) return;
    throw new TrailUnreadableError(
      `the checkpoint of ${checkpoint.size} entries of ${checkpoint.origin} is not in the log of the site, which has ` +
        `${this.digests.size} others of this log; it has each one two minutes after it was signed`,
    );
  }
}

const computeDigest = (checkpoint: LogCheckpoint): string => hash('sha256', formatCheckpoint(checkpoint), 'base64');
