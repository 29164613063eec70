import { readFileSync } from 'node:fs';
import type { StoppableService } from './serve.js';

/** A closing terminal sends SIGHUP. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * The terminal sends Ctrl-C to npm and to this process, and npm forwards it. Signals within this time count as one
 * request to stop.
 */
const SAME_REQUEST_MS = 1_000;
const PARENT_CHECK_MS = 500;

/**
 * Calls back once at the first request to stop. At a second one, `hurry` can make the stop faster. Otherwise, and at the next one, the
 * process ends.
 */
const onStopRequest = (stop: () => void, hurry: () => boolean = () => false): void => {
  let last: number | null = null;
  let canHurry = true;
  const request = (): void => {
    const now = performance.now();
    const isRepeated = last !== null && now - last <= SAME_REQUEST_MS;
    if (last === null) stop();
    else if (!isRepeated) {
      if (!canHurry || !hurry()) process.exit(1);
      canHurry = false;
    }
    if (!isRepeated) last = now;
  };
  for (const signal of SIGNALS) process.on(signal, request);
  if (isStartedByNpm()) onParentEnd(request);
};

/**
 * Returns whether a script of this package, such as `npm start`, started the process. A script of another package may
 * start it as a daemon.
 */
const isStartedByNpm = (): boolean =>
  process.env['npm_lifecycle_event'] !== undefined && process.env['npm_package_name'] === 'cadastre';

/**
 * npm, or the shell that it starts scripts with, may end without forwarding a signal. The system then gives another
 * parent to the process or, if npm was killed and the shell still waits, to the shell.
 */
const onParentEnd = (ended: () => void): void => {
  const parent = process.ppid;
  const grandparent = isShell(parent) ? readParentPid(parent) : null;
  const timer = setInterval(() => {
    if (process.ppid === parent && (grandparent === null || readParentPid(parent) === grandparent)) return;
    clearInterval(timer);
    ended();
  }, PARENT_CHECK_MS);
  timer.unref();
};

// Only Linux has /proc. Shells of other systems replace themselves with the one command of a script.
const isShell = (pid: number): boolean => /^(?:sh|dash|bash|ash|busybox)$/.test(readProc(pid, 'comm').trim());

/** Returns null if the parent is unknown. */
const readParentPid = (pid: number): number | null => {
  // The name before the parent's id is in parentheses and may contain any character.
  const [, parent] = /^.*\) \S (\d+)/s.exec(readProc(pid, 'stat')) ?? [];
  return parent === undefined ? null : Number(parent);
};

const readProc = (pid: number, file: string): string => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
};

/**
 * Runs until a request to stop, then stops cleanly. A stop during the start ends what waits, such as for the database.
 */
export const runUntilStopped = async (start: (stopping: AbortSignal) => Promise<StoppableService>): Promise<void> => {
  const stopping = new AbortController();
  let running: StoppableService | null = null;
  const hurry = (): boolean => {
    const description = running?.hurry?.() ?? null;
    if (description !== null) process.stderr.write(`${description}\n`);
    return description !== null;
  };
  const requested = new Promise<void>((resolve) => {
    onStopRequest(() => {
      process.stderr.write('Stopping …\n');
      stopping.abort();
      resolve();
    }, hurry);
  });
  // The terminal or pipe may close before the process ends.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  try {
    running = await start(stopping.signal);
  } catch (error) {
    if (stopping.signal.aborted && error === stopping.signal.reason) return;
    throw error;
  }
  await requested;
  await running.stop();
};

/**
 * Runs a command that stops after its current step at a request to stop. Returns false if it was stopped; running it
 * again continues.
 */
export const runUntilStopRequest = async (work: (stopping: AbortSignal) => Promise<void>): Promise<boolean> => {
  const stopping = new AbortController();
  onStopRequest(() => {
    process.stderr.write('\nStopping …\n');
    stopping.abort();
  });
  try {
    await work(stopping.signal);
    return true;
  } catch (error) {
    if (stopping.signal.aborted && error === stopping.signal.reason) return false;
    throw error;
  }
};
