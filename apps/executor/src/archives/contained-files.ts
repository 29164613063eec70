import { createHash } from 'node:crypto';
import { constants, createWriteStream } from 'node:fs';
import { lstat, open, readlink, realpath, type FileHandle } from 'node:fs/promises';
import { join, relative, sep, isAbsolute } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { getErrorCode } from '#platform/kernel';
import { RunError } from '../executor-error.js';

const isInside = (folder: string, path: string): boolean => {
  const inner = relative(folder, path);
  return inner === '' || (!isAbsolute(inner) && inner !== '..' && !inner.startsWith(`..${sep}`));
};

/** Returns the path of an open file. Only Linux can answer for the file itself instead of for its name. */
const findOpenedPath = (file: FileHandle, path: string): Promise<string> =>
  process.platform === 'linux' ? readlink(`/proc/self/fd/${file.fd}`) : realpath(path);

/**
 * Opens a file that code of a run may have written. Rejects if it is a link, no file, or in another folder: the run could
 * make the executor send a file of its machine.
 */
const openContainedFile = async (folder: string, path: string): Promise<FileHandle> => {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const isContained = isInside(await realpath(folder), await findOpenedPath(file, path));
    if (isContained && (await file.stat()).isFile()) return file;
    throw new RunError(`${relative(folder, path)} is not a file of the run`);
  } catch (error) {
    await file.close();
    throw error;
  }
};

/** Copies a file that code of a run may have written. Resolves to its MD5 hash, and to null if it does not exist. */
export const copyContainedFile = async (
  folder: string,
  path: string,
  target: string,
  maxBytes: number,
): Promise<string | null> => {
  let file: FileHandle;
  try {
    file = await openContainedFile(folder, path);
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT') return null;
    if (getErrorCode(error) === 'ELOOP') throw new RunError(`${relative(folder, path)} is a link`);
    throw error;
  }
  try {
    const { size } = await file.stat();
    if (size > maxBytes)
      throw new RunError(`${relative(folder, path)} has ${size} bytes, at most ${maxBytes} are accepted`);
    const hash = createHash('md5');
    // The file can grow meanwhile.
    const content = file.createReadStream({ end: maxBytes - 1, autoClose: false });
    const update = async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
      for await (const chunk of chunks) {
        hash.update(chunk);
        yield chunk;
      }
    };
    await pipeline(content, update, createWriteStream(target, { mode: 0o600 }));
    return hash.digest('hex');
  } finally {
    await file.close();
  }
};

/** Resolves to the folder of the tree in which terraform runs. It may be a link to another folder of the tree. */
export const findWorkingDirectory = async (tree: string, workingDirectory: string | null): Promise<string> => {
  const name = (workingDirectory ?? '').replace(/^\/+/, '');
  if (name.includes('\0')) throw new RunError('The working directory contains a character that is not allowed.');
  try {
    const root = await realpath(tree);
    const path = await realpath(join(tree, name));
    if (isInside(root, path) && (await lstat(path)).isDirectory()) return path;
  } catch (error) {
    if (!['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG'].includes(getErrorCode(error) ?? '')) throw error;
  }
  throw new RunError(
    `The working directory ${JSON.stringify(name)} of the workspace is not a folder of the uploaded configuration.`,
  );
};
