import { hash, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { VerifierUsageError } from './command-line.js';
import { demandConsistency, openCheckpoint, type OpenedCheckpoint } from './opened-checkpoints.js';
import { parseStrictJson } from './strict-json.js';
import { createTileSource, type LogFileReader } from './tile-source.js';
import { TimeStampError } from './time-stamps/time-stamp-errors.js';
import { verifyTimeStampResponse } from './time-stamps/time-stamp-tokens.js';
import { TrailAlteredError, TrailUnreadableError } from './trail-errors.js';
import type { VerifierKey } from './verifier-keys.js';

/** What a monitor remembers of the time stamps of a log. */
export type TimeStampState = {
  /** The newest stamp that was verified; null if there was none. */
  readonly id: string | null;
  /** The number of entries in its checkpoint. */
  readonly size: number;
  /** Since when the log has entries that no stamp covers, in ms since 1970; null if it has none. */
  readonly unstampedSince: number | null;
  /** The number of entries that the log had then. */
  readonly unstampedSize: number;
};

/** A stamp with the bytes that were stamped. */
type StampFiles = { readonly id: string; readonly note: Buffer; readonly response: Buffer };

/** What a check has found. `files` is null if the newest stamp was verified before. */
type TimeStampCheck = {
  readonly state: TimeStampState;
  readonly files: StampFiles | null;
  /** For the output. */
  readonly news: string | null;
};

const LIST = 'time-stamps?page%5Bsize%5D=1';
const ID = /^[0-9a-f]{64}$/;
const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Returns the certificates in a file. Throws VerifierUsageError if it has none. */
export const readCertificates = async (file: string): Promise<readonly X509Certificate[]> => {
  try {
    const certificates = ((await readFile(file, 'utf8')).match(PEM_CERTIFICATE) ?? []).map(
      (pem) => new X509Certificate(pem),
    );
    if (certificates.length > 0) return certificates;
    throw new Error('it has none');
  } catch (error) {
    throw new VerifierUsageError(
      `--time-stamp-ca: must be a file with certificates (PEM), got ${file}: ${(error as Error).message}`,
      { cause: error },
    );
  }
};

/** Verifies the time stamps (RFC 3161) of a log of a site: the newest one, and that each checkpoint gets one in time. */
export class WatchedTimeStamps {
  constructor(
    private readonly read: LogFileReader,
    private readonly trust: {
      readonly keys: readonly VerifierKey[];
      readonly certificates: readonly X509Certificate[];
    },
    /** How long the log may have entries that no stamp covers, in ms. */
    private readonly within: number,
  ) {}

  /**
   * Checks the newest stamp against a checkpoint that was verified. Throws TrailAlteredError for a stamp that is wrong or
   * of another history.
   */
  async check(state: TimeStampState | null, served: OpenedCheckpoint, now: number): Promise<TimeStampCheck> {
    const id = await this.readNewestId();
    const last = state ?? { id: null, size: 0, unstampedSince: null, unstampedSize: 0 };
    if (id === last.id || id === null) {
      if (id === null && last.id !== null) throw createStampError('the log lists no time stamps any more');
      return { state: measureLag(last, served, now), files: null, news: null };
    }
    const files = await this.readFiles(id);
    const { size, text } = await this.verify(files, served);
    if (size < last.size) {
      throw createStampError(`the newest time stamp covers ${size} entries, and an earlier one covered ${last.size}`);
    }
    return { state: measureLag({ ...last, id, size }, served, now), files, news: text };
  }

  /** Throws TrailAlteredError if the log has had entries without a stamp for too long. */
  requireRecent({ size, unstampedSince }: TimeStampState, now: number): void {
    if (unstampedSince === null || now - unstampedSince <= this.within) return;
    const since = new Date(unstampedSince).toISOString();
    throw createStampError(
      size === 0
        ? `the log has no time stamp since ${since}`
        : `no time stamp covers entry ${size}, and those after it, since ${since}`,
    );
  }

  private async readNewestId(): Promise<string | null> {
    const list = await this.read(LIST);
    if (!list) return null;
    const [first] = readIds(list);
    if (first === undefined) return null;
    if (!ID.test(first)) throw createStampError('the list of time stamps has an id that is no SHA-256');
    return first;
  }

  private async readFiles(id: string): Promise<StampFiles> {
    const [note, response] = [
      await this.read(`time-stamps/${id}/checkpoint`),
      await this.read(`time-stamps/${id}/checkpoint.tsr`),
    ];
    if (!note || !response) throw new TrailUnreadableError(`time-stamps/${id}: a file of the time stamp is not there`);
    if (hash('sha256', note) !== id)
      throw createStampError(`the stamped checkpoint is not the one with the SHA-256 ${id}`);
    return { id, note, response };
  }

  /** Verifies the stamp, the signature of the checkpoint, and that the log extends it. */
  private async verify(
    { note, response }: StampFiles,
    served: OpenedCheckpoint,
  ): Promise<{ readonly size: number; readonly text: string }> {
    const { authority, stampedAt } = this.verifyResponse(note, response);
    const stamped = openCheckpoint(note.toString(), this.trust.keys, 'the stamped checkpoint');
    // The server can have stamped a checkpoint that it signed after the one that was read.
    if (stamped.size <= served.size || stamped.origin !== served.origin) {
      await demandConsistency(stamped, served, createTileSource(this.read, served.size));
    } else {
      await demandConsistency(served, stamped, createTileSource(this.read, stamped.size));
    }
    return {
      size: stamped.size,
      text: `${authority} has stamped ${stamped.size} entries at ${stampedAt.toISOString()}`,
    };
  }

  private verifyResponse(note: Buffer, response: Buffer) {
    try {
      const query = { digest: hash('sha256', note, 'buffer'), nonce: null, policy: null };
      return verifyTimeStampResponse(response, query, { trusted: this.trust.certificates, now: null });
    } catch (error) {
      if (error instanceof TimeStampError) throw createStampError(error.message);
      throw error;
    }
  }
}

/** Stamps of earlier checkpoints do not end a lag: entries that the log had when it began still have no stamp. */
const measureLag = (state: TimeStampState, served: OpenedCheckpoint, now: number): TimeStampState => {
  if (served.size <= state.size) return { ...state, unstampedSince: null, unstampedSize: 0 };
  if (state.unstampedSince !== null && state.size < state.unstampedSize) return state;
  return { ...state, unstampedSince: now, unstampedSize: served.size };
};

const createStampError = (message: string): TrailAlteredError => new TrailAlteredError('time-stamp', message);

const readIds = (list: Buffer): readonly string[] => {
  try {
    const { data } = parseStrictJson(list.toString()) as { readonly data: readonly { readonly id: string }[] };
    return data.map(({ id }) => String(id));
  } catch {
    throw createStampError('the list of time stamps is no list');
  }
};
