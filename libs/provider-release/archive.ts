import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { openPromise, type Entry } from 'yauzl';
import { unprocessable } from '#kernel';

/** What a file is told apart by. */
export type FileDigest = { readonly size: number; readonly sha256: string };

/** Size and checksum of a file on disk, however large: it goes by in pieces. */
export const computeFileDigest = async (path: string): Promise<FileDigest> => {
  const sha256 = createHash('sha256');
  let size = 0;
  for await (const piece of createReadStream(path) as AsyncIterable<Buffer>) {
    sha256.update(piece);
    size += piece.length;
  }
  return { size, sha256: sha256.digest('hex') };
};

/** The provider and the system that a zip should be for. */
export type ExpectedProgram = { readonly name: string; readonly os: string };

/** As the clients look for what to run (providercache/cached_provider.go): at the top, then nothing, `_…` or `.…`. */
const isProgramOf = (name: string, fileName: string): boolean => {
  const prefix = `terraform-provider-${name}`;
  return fileName.startsWith(prefix) && /^(?:[_.][^/]*)?$/.test(fileName.slice(prefix.length));
};

const UNIX = 3;
const MAC = 19;

/** Whether it may be run once it is unpacked. A zip that says nothing of it, as one made by Windows, unpacks as 0666. */
const isExecutable = ({ versionMadeBy, externalFileAttributes }: Entry): boolean =>
  [UNIX, MAC].includes(versionMadeBy >> 8) && ((externalFileAttributes >>> 16) & 0o111) !== 0;

const readEntries = async (path: string): Promise<readonly Entry[]> => {
  const archive = await openPromise(path, { strictFileNames: true });
  const entries: Entry[] = [];
  // The library checks the names: absolute ones, backslashes and `..` are errors.
  for await (const entry of archive.eachEntry()) entries.push(entry);
  return entries;
};

/**
 * Looks into a zip on disk before it is uploaded, and refuses what a client could install but not run. It reads the
 * directory of the zip alone.
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
  // The first by name is the one that is run.
  const [program] = programs.toSorted((left, right) => (left.fileName < right.fileName ? -1 : 1));
  if (os !== 'windows' && program && !isExecutable(program)) {
    throw unprocessable(`${program.fileName} in ${path} is not executable: chmod +x it, then zip it again`);
  }
};
