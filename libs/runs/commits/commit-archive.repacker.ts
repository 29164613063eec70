import { PassThrough, Transform, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { extract, pack, type Entry, type Headers } from 'tar-stream';
import { isInsideLink } from '#platform/kernel';
import { MIB, readBytes } from '#storage/blob-store';

/** The archive of a commit is none that a configuration can have. The message is shown to people. */
export class UnusableArchiveError extends Error {}

const MAX_UNPACKED_BYTES = 512 * MIB;
const MAX_ENTRIES = 100_000;
const MAX_PATH_CHARACTERS = 4_096;
/** Bytes without the content of a file. The reader keeps long paths and PAX records in memory until they end. */
const MAX_HEADER_BYTES = MIB;
/** A few seconds are enough for the largest archive. */
const REPACK_WITHIN_MS = 5 * 60_000;

/** Returns the path without the folder that the host puts around the files; null for that folder itself. */
const toInnerPath = (name: string): string | null => {
  if (name.length > MAX_PATH_CHARACTERS)
    throw new UnusableArchiveError(`The archive has a path of more than ${MAX_PATH_CHARACTERS} characters`);
  const segments = name.split('/').filter((segment) => segment !== '' && segment !== '.');
  if (segments.includes('..')) throw new UnusableArchiveError('The archive has a path outside of the repository');
  return segments.length < 2 ? null : segments.slice(1).join('/');
};

/**
 * Returns the header of an entry in a configuration; null for entries that a configuration does not have. `folder`: path of the
 * submodule, empty for the repository itself.
 */
const toHeader = ({ name, type, linkname, mode, size }: Headers, folder: string): Headers | null => {
  const inner = toInnerPath(name);
  if (inner === null) return null;
  const path = folder === '' ? inner : `${folder}/${inner}`;
  if (type === 'file') return { name: path, type, size: size ?? 0, mode: (mode ?? 0o644) & 0o777 };
  if (type === 'directory') return { name: path, type, mode: 0o755 };
  if (type !== 'symlink') return null;
  if (!isInsideLink(path, linkname ?? ''))
    throw new UnusableArchiveError(`The symbolic link ${path} leads out of the repository`);
  return { name: path, type, linkname: linkname ?? '' };
};

/** Limits what an archive has when it is unpacked. */
class ArchiveLimits {
  private entries = 0;
  private unpacked = 0;
  private passed = 0;
  private passesAtMost = MAX_HEADER_BYTES;

  /** Returns a stream that passes an unpacked archive on. It fails if too many bytes come before the next entry. */
  openStream(): Transform {
    this.passesAtMost = this.passed + MAX_HEADER_BYTES;
    return new Transform({
      transform: (chunk: Buffer, _, done) => {
        this.passed += chunk.length;
        const isTooMuch = this.passed > this.passesAtMost;
        done(isTooMuch ? new UnusableArchiveError('The archive has more than 1 MiB between two files') : null, chunk);
      },
    });
  }

  /** Counts an entry. Throws if it exceeds a limit, or has a size that no file can have. */
  add({ type, size = 0 }: Headers): void {
    // A PAX record can have any text as its size. The reader waits forever for the end of such an entry.
    if (!Number.isSafeInteger(size) || size < 0) throw new UnusableArchiveError('The archive has a file without size');
    this.entries += 1;
    this.unpacked += size;
    if (this.entries > MAX_ENTRIES) throw new UnusableArchiveError(`The commit has more than ${MAX_ENTRIES} files`);
    if (this.unpacked > MAX_UNPACKED_BYTES)
      throw new UnusableArchiveError('The files of the commit have more than 512 MiB');
    // The reader takes no content of a folder, whatever its size.
    this.passesAtMost = this.passed + (type === 'directory' ? 0 : size) + MAX_HEADER_BYTES;
  }
}

/** The archive of a repository, and the folder in which its files are. */
export type PlacedArchive = {
  readonly content: Readable;
  /** Path of the submodule; empty for the repository itself. */
  readonly folder: string;
};

/**
 * Returns the archive of a commit, and of its submodules, without the folder that Git hosts put around the files. Throws
 * `UnusableArchiveError` for archives that are together too large when they are unpacked, that reach out of their folder, or
 * that take longer than the signal.
 */
export const repackCommitArchive = (
  archives: readonly PlacedArchive[],
  signal: AbortSignal = AbortSignal.timeout(REPACK_WITHIN_MS),
): Readable => {
  const output = new PassThrough();
  repack(archives, output, signal).catch((error: unknown) => output.destroy(toArchiveError(error, signal)));
  return output;
};

const toArchiveError = (error: unknown, { aborted }: AbortSignal): UnusableArchiveError => {
  if (error instanceof UnusableArchiveError) return error;
  const message = `The archive of the commit ${aborted ? 'takes too long to unpack' : 'is damaged'}`;
  return new UnusableArchiveError(message, { cause: error });
};

type EntryReader = (entry: Entry) => Promise<void>;

/** Reads the entries of an archive one after another. The reader consumes the content of each. */
const readEntries = async (
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

const repack = async (archives: readonly PlacedArchive[], output: PassThrough, signal: AbortSignal): Promise<void> => {
  const packed = pack();
  const limits = new ArchiveLimits();
  const copy = async (): Promise<void> => {
    for (const { content, folder } of archives)
      await readEntries(content, limits, signal, async (entry) => {
        const header = toHeader(entry.header, folder);
        if (header?.type === 'file') return pipeline(entry, packed.entry(header));
        if (header) packed.entry(header);
        entry.resume();
      });
    packed.finalize();
  };
  await Promise.all([
    copy(),
    // The output fails with the first error, not with the one that its source then has.
    pipeline(packed, createGzip(), output, { end: false }),
  ]);
  output.end();
};

const MAX_TEXT_BYTES = 64 * 1_024;

/** Reads texts from the archives of a commit and of its submodules, which have the limits of one commit and one time together. */
export class ArchivedTexts {
  private readonly limits = new ArchiveLimits();

  constructor(private readonly signal: AbortSignal = AbortSignal.timeout(REPACK_WITHIN_MS)) {}

  /** Returns the text of a file; null if the archive has no such file. Throws like `repackCommitArchive`. */
  async read(archive: Readable, path: string): Promise<string | null> {
    // What follows the file is not unpacked.
    const ending = new AbortController();
    let text: string | null = null;
    try {
      await readEntries(archive, this.limits, AbortSignal.any([this.signal, ending.signal]), async (entry) => {
        const { type, size = 0 } = entry.header;
        if (type !== 'file' || toInnerPath(entry.header.name) !== path) return void entry.resume();
        if (size > MAX_TEXT_BYTES) throw new UnusableArchiveError(`The file ${path} has more than 64 KiB`);
        text = (await readBytes(entry)).toString('utf8');
        ending.abort();
      });
    } catch (error) {
      if (!ending.signal.aborted) throw toArchiveError(error, this.signal);
    }
    return text;
  }
}
