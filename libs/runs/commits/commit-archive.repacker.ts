import { PassThrough, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { pack, type Headers } from 'tar-stream';
import { isInsideLink } from '#platform/kernel';
import {
  ArchiveLimits,
  readArchiveEntries,
  readBytes,
  toArchiveError,
  UnusableArchiveError,
} from '#storage/blob-store';

const LIMITS = { noun: 'commit', mostFiles: 100_000, mostMib: 512 };
const MAX_PATH_CHARACTERS = 4_096;
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
  repack(archives, output, signal).catch((error: unknown) =>
    output.destroy(toArchiveError(error, LIMITS.noun, signal)),
  );
  return output;
};

const repack = async (archives: readonly PlacedArchive[], output: PassThrough, signal: AbortSignal): Promise<void> => {
  const packed = pack();
  const limits = new ArchiveLimits(LIMITS);
  const copy = async (): Promise<void> => {
    for (const { content, folder } of archives)
      await readArchiveEntries(content, limits, signal, async (entry) => {
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
  private readonly limits = new ArchiveLimits(LIMITS);

  constructor(private readonly signal: AbortSignal = AbortSignal.timeout(REPACK_WITHIN_MS)) {}

  /** Returns the text of a file; null if the archive has no such file. Throws like `repackCommitArchive`. */
  async read(archive: Readable, path: string): Promise<string | null> {
    // What follows the file is not unpacked.
    const ending = new AbortController();
    let text: string | null = null;
    try {
      await readArchiveEntries(archive, this.limits, AbortSignal.any([this.signal, ending.signal]), async (entry) => {
        const { type, size = 0 } = entry.header;
        if (type !== 'file' || toInnerPath(entry.header.name) !== path) return void entry.resume();
        if (size > MAX_TEXT_BYTES) throw new UnusableArchiveError(`The file ${path} has more than 64 KiB`);
        text = (await readBytes(entry)).toString('utf8');
        ending.abort();
      });
    } catch (error) {
      if (!ending.signal.aborted) throw toArchiveError(error, LIMITS.noun, this.signal);
    }
    return text;
  }
}
