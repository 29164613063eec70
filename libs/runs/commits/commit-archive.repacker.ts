import { PassThrough, Transform, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { extract, pack, type Headers } from 'tar-stream';
import { isInsideLink } from '#platform/kernel';
import { MIB } from '#storage/blob-store';

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

/** Returns the header of an entry in a configuration; null for entries that a configuration does not have. */
const toHeader = ({ name, type, linkname, mode, size }: Headers): Headers | null => {
  const path = toInnerPath(name);
  if (path === null) return null;
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

  /** Passes the unpacked archive on. Fails if too many bytes come before the next entry. */
  readonly stream = new Transform({
    transform: (chunk: Buffer, _, done) => {
      this.passed += chunk.length;
      const isTooMuch = this.passed > this.passesAtMost;
      done(isTooMuch ? new UnusableArchiveError('The archive has more than 1 MiB between two files') : null, chunk);
    },
  });

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

/**
 * Returns the archive of a commit without the folder that Git hosts put around the files. Throws `UnusableArchiveError` for
 * archives that are too large when they are unpacked, that reach out of their folder, or that take longer than the signal.
 */
export const repackCommitArchive = (
  archive: Readable,
  signal: AbortSignal = AbortSignal.timeout(REPACK_WITHIN_MS),
): Readable => {
  const output = new PassThrough();
  repack(archive, output, signal).catch((error: unknown) => output.destroy(toArchiveError(error, signal)));
  return output;
};

const toArchiveError = (error: unknown, { aborted }: AbortSignal): UnusableArchiveError => {
  if (error instanceof UnusableArchiveError) return error;
  const message = `The archive of the commit ${aborted ? 'takes too long to unpack' : 'is damaged'}`;
  return new UnusableArchiveError(message, { cause: error });
};

const repack = async (archive: Readable, output: PassThrough, signal: AbortSignal): Promise<void> => {
  const entries = extract();
  const packed = pack();
  const limits = new ArchiveLimits();
  const copy = async (): Promise<void> => {
    for await (const entry of entries) {
      limits.add(entry.header);
      const header = toHeader(entry.header);
      if (header?.type === 'file') await pipeline(entry, packed.entry(header));
      else {
        if (header) packed.entry(header);
        entry.resume();
      }
    }
    packed.finalize();
  };
  await Promise.all([
    pipeline(archive, createGunzip(), limits.stream, entries, { signal }),
    copy(),
    // The output fails with the first error, not with the one that its source then has.
    pipeline(packed, createGzip(), output, { end: false }),
  ]);
  output.end();
};
