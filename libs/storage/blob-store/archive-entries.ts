import { Transform, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract, type Entry, type Headers } from 'tar-stream';
import { MIB } from './upload-limit.js';

/** An archive is refused. The message is shown to people. */
export class UnusableArchiveError extends Error {}

/** Bytes without the content of a file. The reader keeps long paths and PAX records in memory until they end. */
const MAX_HEADER_BYTES = MIB;
/** What all headers together may have: the usual ones of each entry with its padding, and more for some long ones. */
const MAX_ENTRY_OVERHEAD = 3 * 1024;
const MAX_OVERHEAD = 16 * MIB;

/** What an archive may have when it is unpacked. `noun`: what people call its content, such as `commit`. */
type UnpackedLimits = { readonly noun: string; readonly mostFiles: number; readonly mostMib: number };

/** Limits what one archive, or several together, have when they are unpacked. */
export class ArchiveLimits {
  private entries = 0;
  private unpacked = 0;
  private contents = 0;
  private passed = 0;
  private passesAtMost = MAX_HEADER_BYTES;

  constructor(private readonly limits: UnpackedLimits) {}

  /** Returns a stream that passes an unpacked archive on. It fails if too many bytes come before the next entry. */
  openStream(): Transform {
    this.passesAtMost = this.passed + MAX_HEADER_BYTES;
    return new Transform({
      transform: (chunk: Buffer, _, done) => {
        this.passed += chunk.length;
        done(this.findExcess(), chunk);
      },
    });
  }

  private findExcess(): UnusableArchiveError | null {
    if (this.passed > this.passesAtMost)
      return new UnusableArchiveError('The archive has more than 1 MiB between two files');
    if (this.passed > this.contents + MAX_OVERHEAD + this.entries * MAX_ENTRY_OVERHEAD)
      return new UnusableArchiveError('The archive has too many bytes that belong to no file');
    return null;
  }

  /** Counts an entry. Throws if it exceeds a limit, or has a size that no file can have. */
  add({ type, size = 0 }: Headers): void {
    const { noun, mostFiles, mostMib } = this.limits;
    // A PAX record can have any text as its size. The reader waits forever for the end of such an entry.
    if (!Number.isSafeInteger(size) || size < 0) throw new UnusableArchiveError('The archive has a file without size');
    this.entries += 1;
    this.unpacked += size;
    if (this.entries > mostFiles) throw new UnusableArchiveError(`The ${noun} has more than ${mostFiles} files`);
    if (this.unpacked > mostMib * MIB)
      throw new UnusableArchiveError(`The files of the ${noun} have more than ${mostMib} MiB`);
    // The reader takes no content of a folder, whatever its size.
    const content = type === 'directory' ? 0 : size;
    this.contents += content;
    this.passesAtMost = this.passed + content + MAX_HEADER_BYTES;
  }
}

type EntryReader = (entry: Entry) => Promise<void>;

/** Reads the entries of a gzip tar archive one after another. The reader consumes the content of each. */
export const readArchiveEntries = async (
  archive: Readable,
  limits: ArchiveLimits,
  signal: AbortSignal,
  readEntry: EntryReader,
): Promise<void> => {
  const entries = extract();
  const readAll = async (): Promise<void> => {
    for await (const entry of entries) {
      limits.add(entry.header);
      await readEntry(entry);
    }
  };
  await Promise.all([pipeline(archive, createGunzip(), limits.openStream(), entries, { signal }), readAll()]);
};

/** Returns the error for people after an archive could not be read. */
export const toArchiveError = (error: unknown, noun: string, { aborted }: AbortSignal): UnusableArchiveError => {
  if (error instanceof UnusableArchiveError) return error;
  const message = `The archive of the ${noun} ${aborted ? 'takes too long to unpack' : 'is damaged'}`;
  return new UnusableArchiveError(message, { cause: error });
};
