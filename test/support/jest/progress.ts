import { globSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** The test or hook that a worker of Jest runs, with the time that it may take. */
export type WorkerProgress = {
  readonly pid: number;
  readonly file: string;
  readonly doing: string;
  /** In ms since the epoch. */
  readonly since: number;
  readonly limit: number;
};

/** The file of a worker. The process of Jest finds it by its own process id. */
export const progressFile = (jest: number, worker: number | '*'): string => `progress-${jest}-${worker}.json`;

const FOLDER = process.env['CADASTRE_TEST_BUILD'] ?? '';
const PATH = join(FOLDER, progressFile(process.ppid, process.pid));

let descriptor: number | null = null;
let longest = 0;

/**
 * Records what this worker begins. The watchdog reads it even while the worker executes nothing. Each text replaces the one
 * before in the open file: ext4 writes a file that is truncated to the disk when it is closed, which took 3.6 ms, 20,000 times.
 */
export const recordProgress = (file: string, doing: string, limit: number): void => {
  const progress: WorkerProgress = { pid: process.pid, file, doing, since: Date.now(), limit };
  const text = Buffer.from(JSON.stringify(progress));
  longest = Math.max(longest, text.length);
  descriptor ??= openSync(PATH, 'w');
  writeSync(descriptor, Buffer.concat([text, Buffer.alloc(longest - text.length, ' ')]), 0, longest, 0);
};

const parseProgress = (text: string): readonly WorkerProgress[] => {
  try {
    return [JSON.parse(text) as WorkerProgress];
  } catch {
    // The worker writes the file at this moment.
    return [];
  }
};

/** Returns what the workers of this process, which is Jest, are doing. */
export const readProgress = (): readonly WorkerProgress[] =>
  globSync(progressFile(process.pid, '*'), { cwd: FOLDER }).flatMap((name) =>
    parseProgress(readFileSync(join(FOLDER, name), 'utf8')),
  );

/** The file to which Node writes the handles of a worker after SIGUSR2. */
export const reportFile = (worker: number): string => `worker-${worker}.report.json`;

/** Lets this worker describe what it waits for when it gets SIGUSR2. */
export const describeOnSignal = (): void => {
  Object.assign(process.report, {
    directory: FOLDER,
    filename: reportFile(process.pid),
    signal: 'SIGUSR2',
    // Otherwise Node looks up the names of all addresses.
    excludeNetwork: true,
    reportOnSignal: true,
  });
};
