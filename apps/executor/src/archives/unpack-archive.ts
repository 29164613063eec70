import { constants } from 'node:fs';
import { chmod, lstat, mkdir, open, rm, symlink } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { extract, type Entry, type Headers } from 'tar-stream';
import { getErrorCode, isInsideLink } from '#platform/kernel';
import { RunError } from '../executor-error.js';

const MAX_ENTRIES = 200_000;
const MAX_PATH_LENGTH = 4_096;

type UnpackOptions = {
  /** Bytes of all files. */
  readonly maxBytes: number;
  /** Whether links may lead out of the folder: nothing is ever written through a link. */
  readonly acceptsOutsideLinks: boolean;
};

/** Returns the path of an entry without `.` and empty segments. Throws if it leads out of the folder. */
export const normalizeEntryPath = (name: string): string => {
  const segments = name.split('/').filter((segment) => segment !== '' && segment !== '.');
  if (name.startsWith('/') || segments.includes('..') || name.includes('\0') || name.length > MAX_PATH_LENGTH) {
    throw new RunError(`The archive has an entry outside of its folder: ${JSON.stringify(name.slice(0, 200))}`);
  }
  return segments.join('/');
};

/** Unpacks one archive into an empty folder. */
class Unpacking {
  private entries = 0;
  private bytes = 0;
  /** Folders that exist and are no links. */
  private readonly folders = new Set(['']);

  constructor(
    private readonly target: string,
    private readonly options: UnpackOptions,
  ) {}

  async add(entry: Entry): Promise<void> {
    const { header } = entry;
    this.entries += 1;
    if (this.entries > MAX_ENTRIES) throw new RunError(`The archive has more than ${MAX_ENTRIES} entries.`);
    const path = normalizeEntryPath(header.name);
    if (path !== '') await this.write(path, header, entry);
    // The next entry comes after the content of this one.
    entry.resume();
  }

  private async write(
    path: string,
    { type, mode = 0o644, linkname, size = 0 }: Headers,
    content: Readable,
  ): Promise<void> {
    if (type === 'directory') return this.createFolder(path, mode);
    await this.requireFolder(posix.dirname(path));
    if (type === 'symlink') return this.createLink(path, linkname ?? '');
    if (type !== 'file' && type !== 'contiguous-file') {
      throw new RunError(`The archive has an entry that is no file, folder or link: ${JSON.stringify(path)} (${type})`);
    }
    this.bytes += size;
    if (this.bytes > this.options.maxBytes)
      throw new RunError(`The files of the archive have more than ${this.options.maxBytes} bytes.`);
    await this.createFile(path, mode, content);
  }

  private async createFolder(path: string, mode: number): Promise<void> {
    await this.requireFolder(path);
    await chmod(join(this.target, path), 0o700 | (mode & 0o777));
  }

  /** Creates the folder and those above it if they are missing. Throws if one of them is a link or a file. */
  private async requireFolder(path: string): Promise<void> {
    if (path === '.' || this.folders.has(path)) return;
    await this.requireFolder(posix.dirname(path));
    const folder = join(this.target, path);
    try {
      await mkdir(folder);
    } catch (error) {
      if (getErrorCode(error) !== 'EEXIST') throw error;
      if (!(await lstat(folder)).isDirectory())
        throw new RunError(`The archive writes into ${JSON.stringify(path)}, which is no folder.`);
    }
    this.folders.add(path);
  }

  private async createLink(path: string, target: string): Promise<void> {
    if (!this.options.acceptsOutsideLinks && !isInsideLink(path, target))
      throw new RunError(
        `The archive has a link out of its folder: ${JSON.stringify(path)} to ${JSON.stringify(target)}`,
      );
    await this.removeFile(path);
    await symlink(target, join(this.target, path));
    // Names of other folders may mean this link on a file system that ignores case.
    this.folders.clear();
    this.folders.add('');
  }

  private async createFile(path: string, mode: number, content: Readable): Promise<void> {
    await this.removeFile(path);
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
    const file = await open(join(this.target, path), flags, 0o600 | (mode & 0o777));
    await pipeline(content, file.createWriteStream());
  }

  /** An archive may contain a file twice. */
  private async removeFile(path: string): Promise<void> {
    try {
      await rm(join(this.target, path), { force: true });
    } catch (error) {
      if (getErrorCode(error) !== 'ERR_FS_EISDIR') throw error;
      throw new RunError(`The archive replaces the folder ${JSON.stringify(path)}.`);
    }
  }
}

const isFormatError = (error: unknown): boolean =>
  getErrorCode(error)?.startsWith('Z_') === true ||
  (error instanceof Error &&
    /^(?:Invalid tar header|Unexpected end of data|unexpected end of file)/i.test(error.message));

/**
 * Unpacks a gzipped tar into an empty folder: folders, files and symbolic links. Rejects with a `RunError` if it has other
 * entries, if an entry would be outside of the folder, or if it is too large.
 */
export const unpackArchive = async (archive: Readable, target: string, options: UnpackOptions): Promise<void> => {
  const unpacking = new Unpacking(target, options);
  const entries = extract();
  const readEntries = async (): Promise<void> => {
    for await (const entry of entries as AsyncIterable<Entry>) await unpacking.add(entry);
  };
  const [feeding, reading] = await Promise.allSettled([pipeline(archive, createGunzip(), entries), readEntries()]);
  // An error of one of both also ends the other.
  const reasons = [reading, feeding].flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
  if (reasons.length === 0) return;
  if (reasons[0] instanceof RunError) throw reasons[0];
  if (reasons.some(isFormatError)) throw new RunError('The archive is damaged, or is no gzipped tar.');
  throw reasons.at(-1);
};
