import { globSync, readFileSync, writeFileSync } from 'node:fs';
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

/** Records what this worker begins. The watchdog reads it even while the worker executes nothing. */
export const recordProgress = (file: string, doing: string, limit: number): void => {
  const progress: WorkerProgress = { pid: process.pid, file, doing, since: Date.now(), limit };
  writeFileSync(PATH, JSON.stringify(progress));
};

/** Returns what the workers of this process, which is Jest, are doing. */
export const readProgress = (): readonly WorkerProgress[] =>
  globSync(progressFile(process.pid, '*'), { cwd: FOLDER }).flatMap((name): WorkerProgress[] => {
    const text = readFileSync(join(FOLDER, name), 'utf8');
    // A worker may write the file at this moment.
    return text.endsWith('}') ? [JSON.parse(text) as WorkerProgress] : [];
  });

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
