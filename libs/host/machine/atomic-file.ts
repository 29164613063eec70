import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { getErrorCode } from '#kernel';

/**
 * The file has the old content or the new one, whenever the power goes: written beside it, synced, renamed. The folder
 * is synced too, else the rename itself could be undone after we have told somebody that the file is there.
 */
export const writeAtomically = async (file: string, content: string, mode: number): Promise<void> => {
  const draft = `${file}.draft`;
  const handle = await open(draft, 'w', mode);
  try {
    // `open` sets the mode only on a new file, and a killed process may have left its draft.
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

/** The content, or null where there is no such file. */
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
