import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { openPromise, type Entry } from 'yauzl';
import { unprocessable } from '#platform/kernel';

export type FileDigest = { readonly size: number; readonly sha256: string };

/** Returns size and checksum of a file on disk, which is read in chunks. */
export const computeFileDigest = async (path: string): Promise<FileDigest> => {
  const sha256 = createHash('sha256');
  let size = 0;
  for await (const piece of createReadStream(path) as AsyncIterable<Buffer>) {
    sha256.update(piece);
    size += piece.length;
  }
  return { size, sha256: sha256.digest('hex') };
};

type ExpectedProgram = { readonly name: string; readonly os: string };

/**
 * Returns whether clients would start this file (providercache/cached_provider.go): in the top folder, with nothing,
 * `_…` or `.…` after the prefix.
 */
const isProgramOf = (name: string, fileName: string): boolean => {
  const prefix = `terraform-provider-${name}`;
  return fileName.startsWith(prefix) && /^(?:[_.][^/]*)?$/.test(fileName.slice(prefix.length));
};

const UNIX = 3;
const MAC = 19;

/**
 * Returns whether the file is executable after unpacking. A zip without Unix permissions, such as one made on Windows,
 * is unpacked with mode 0666.
 */
const isExecutable = ({ versionMadeBy, externalFileAttributes }: Entry): boolean =>
  [UNIX, MAC].includes(versionMadeBy >> 8) && ((externalFileAttributes >>> 16) & 0o111) !== 0;

const readEntries = async (path: string): Promise<readonly Entry[]> => {
  const archive = await openPromise(path, { strictFileNames: true });
  const entries: Entry[] = [];
  // With strictFileNames, the library rejects absolute paths, backslashes and `..`.
  for await (const entry of archive.eachEntry()) entries.push(entry);
  return entries;
};

/**
 * Checks a zip on disk before it is uploaded. Rejects a zip that clients could install but not run. Reads only the
 * directory of the zip.
 */
export const checkArchive = async (path: string, { name, os }: ExpectedProgram): Promise<void> => {
  const entries = await readEntries(path).catch((error: unknown) => {
    if (!(error instanceof Error) || 'syscall' in error) throw error;
    throw unprocessable(`${path} is not a zip that can be installed: ${error.message}`);
  });
  const programs = entries.filter(({ fileName }) => isProgramOf(name, fileName));
  if (programs.length === 0) {
    throw unprocessable(`${path} has no file terraform-provider-${name} or terraform-provider-${name}_v… at its top`);
  }
  // Clients start the first program in order of names.
  const [program] = programs.toSorted((left, right) => (left.fileName < right.fileName ? -1 : 1));
  if (os !== 'windows' && program && !isExecutable(program)) {
    throw unprocessable(`${program.fileName} in ${path} is not executable: chmod +x it, then zip it again`);
  }
};
