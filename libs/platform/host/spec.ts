import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import type { PlainLogger } from './logging/logger.js';

export const createTemporaryFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'cadastre-host-'));

export const removeFolder = (folder: string): Promise<void> => rm(folder, { recursive: true, force: true });

/** Creates a logger that records its messages. */
export const createRecordingLogger = (): PlainLogger & { readonly lines: string[] } => {
  const lines: string[] = [];
  const record = (line: string): void => {
    lines.push(line);
  };
  return { lines, debug: record, info: record, warn: record, error: record };
};

/**
 * Starts a child process that tests can kill. It runs `code`, in which `host(file)` imports a file of this module.
 * Returns it with the first line that it prints.
 */
export const startChild = async (code: string): Promise<{ child: ChildProcess; firstLine: string }> => {
  const here = pathToFileURL(`${import.meta.dirname}/`).href;
  const program = `const host = (file) => import('${here}' + file);\n${code}`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit').then(() => {
    throw new Error('the child ended before it printed anything');
  });
  const [firstLine] = (await Promise.race([once(createInterface({ input: child.stdout }), 'line'), ended])) as [string];
  ended.catch(() => undefined);
  return { child, firstLine };
};

export const kill = async (child: ChildProcess): Promise<void> => {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
};
