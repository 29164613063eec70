import { PassThrough, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { extract, pack, type Headers } from 'tar-stream';
import { MIB } from '#storage/blob-store';

/** The archive of a commit is none that a configuration can have. The message is shown to people. */
export class UnusableArchiveError extends Error {}

const MAX_UNPACKED_BYTES = 512 * MIB;
const MAX_ENTRIES = 100_000;

/** Returns the path without the folder that the host puts around the files; null for that folder itself. */
const toInnerPath = (name: string): string | null => {
  const segments = name.split('/').filter((segment) => segment !== '' && segment !== '.');
  if (segments.includes('..')) throw new UnusableArchiveError('The archive has a path outside of the repository');
  return segments.length < 2 ? null : segments.slice(1).join('/');
};

/** Throws if a symbolic link leads out of the repository. */
const checkLink = (path: string, target: string): void => {
  let depth = path.split('/').length - 1;
  if (target.startsWith('/')) depth = -1;
  for (const segment of target.split('/')) {
    if (depth < 0) break;
    if (segment === '..') depth -= 1;
    else if (segment !== '' && segment !== '.') depth += 1;
  }
  if (depth < 0) throw new UnusableArchiveError(`The symbolic link ${path} leads out of the repository`);
};

/** Returns the header of an entry in a configuration; null for entries that a configuration does not have. */
const toHeader = ({ name, type, linkname, mode, size }: Headers): Headers | null => {
  const path = toInnerPath(name);
  if (path === null) return null;
  if (type === 'file') return { name: path, type, size: size ?? 0, mode: mode ?? 0o644 };
  if (type === 'directory') return { name: path, type, mode: 0o755 };
  if (type !== 'symlink') return null;
  checkLink(path, linkname ?? '');
  return { name: path, type, linkname: linkname ?? '' };
};

/**
 * Returns the archive of a commit without the folder that Git hosts put around the files. Throws `UnusableArchiveError` for
 * archives that are too large when they are unpacked, or that reach out of their folder.
 */
export const repackCommitArchive = (archive: Readable): Readable => {
  const output = new PassThrough();
  repack(archive, output).catch((error: unknown) => {
    const isKnown = error instanceof UnusableArchiveError;
    output.destroy(
      isKnown ? error : new UnusableArchiveError('The archive of the commit is damaged', { cause: error }),
    );
  });
  return output;
};

const repack = async (archive: Readable, output: PassThrough): Promise<void> => {
  const entries = extract();
  const packed = pack();
  const copy = async (): Promise<void> => {
    let [unpacked, count] = [0, 0];
    for await (const entry of entries) {
      count += 1;
      unpacked += entry.header.size ?? 0;
      if (count > MAX_ENTRIES) throw new UnusableArchiveError(`The commit has more than ${MAX_ENTRIES} files`);
      if (unpacked > MAX_UNPACKED_BYTES)
        throw new UnusableArchiveError('The files of the commit have more than 512 MiB');
      const header = toHeader(entry.header);
      if (header?.type === 'file') await pipeline(entry, packed.entry(header));
      else {
        if (header) packed.entry(header);
        entry.resume();
      }
    }
    packed.finalize();
  };
  await Promise.all([pipeline(archive, createGunzip(), entries), copy(), pipeline(packed, createGzip(), output)]);
};
