import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { getErrorCode } from '#platform/kernel';

/** Returns the file in which `writeAtomically` prepares the new content. */
export const toDraftFile = (file: string): string => `${file}.draft`;

/**
 * Replaces a file so that it has either the old or the new content after a power cut: the draft is written beside it,
 * synced and renamed. The folder is synced too, because otherwise the rename could be lost after the caller has relied
 * on it. With `isExclusive`, a draft of another process is the error EEXIST.
 */
export const writeAtomically = async (
  file: string,
  content: string,
  mode: number,
  { isExclusive = false }: { readonly isExclusive?: boolean } = {},
): Promise<void> => {
  const draft = toDraftFile(file);
  const handle = await open(draft, isExclusive ? 'wx' : 'w', mode);
  try {
    // `open` sets the mode only on a new file, and a killed process may have left a draft.
    await handle.chmod(mode);
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, file);
  await syncFolder(dirname(file));
};

export const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

export const readFileOrNull = async (file: string): Promise<string | null> => {
  try {
    const handle = await open(file, 'r');
    try {
      return await handle.readFile('utf8');
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT') return null;
    throw error;
  }
};
