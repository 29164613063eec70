import { readFile } from 'node:fs/promises';
import { badUsage } from './failure.js';

/** The content of a file that an option names. */
export const fileNamed = (path: string, option: string): Promise<string> =>
  readFile(path, 'utf8').catch(({ code, message }: NodeJS.ErrnoException) => {
    throw badUsage(`${option}: ${code === 'ENOENT' ? `there is no file ${path}` : message}`);
  });
