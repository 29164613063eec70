import { readFile } from 'node:fs/promises';
import { createUsageError } from './command-error.js';

/** Returns the content of a file that an option names. */
export const readOptionFile = (path: string, option: string): Promise<string> =>
  readFile(path, 'utf8').catch(({ code, message }: NodeJS.ErrnoException) => {
    throw createUsageError(`${option}: ${code === 'ENOENT' ? `there is no file ${path}` : message}`);
  });
