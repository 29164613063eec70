import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Reporter } from '@jest/reporters';
import { progressFile, readProgress, reportFile, type WorkerProgress } from './progress.ts';

const ROOT = join(import.meta.dirname, '../../..');
const REPORT_MS = 2_000;

/** The part of a report of Node that says what a process waits for. */
type NodeReport = {
  readonly libuv?: readonly { readonly type: string; readonly is_active?: boolean; readonly [more: string]: unknown }[];
};

type WatchdogOptions = {
  /** How much longer than its limit a test or hook may take, in ms. */
  readonly grace?: number;
  /** The longest time in which no file may begin or end, in ms. */
  readonly silence?: number;
};

/**
 * Ends a worker that makes no progress, so that its file fails and the run continues. Tests and hooks have limits, but the
 * worker itself cannot enforce them while it waits for a child process, loads a file, or repeats a loop for ever. First it
 * prints what the worker waits for.
 */
export default class Watchdog implements Pick<
  Reporter,
  'onRunStart' | 'onTestFileStart' | 'onTestFileResult' | 'onRunComplete'
> {
  private readonly folder = process.env['CADASTRE_TEST_BUILD'] ?? '';
  private readonly grace: number;
  private readonly silence: number;
  private readonly files = new Set<string>();
  private readonly ended = new Set<number>();
  private lastFile = Date.now();
  private timer: NodeJS.Timeout | undefined;

  constructor(_: unknown, { grace = 60_000, silence = 900_000 }: WatchdogOptions = {}) {
    this.grace = grace;
    this.silence = silence;
  }

  onRunStart(): void {
    this.lastFile = Date.now();
    this.timer = setInterval(() => void this.check(), Math.min(this.grace, 10_000));
  }

  onTestFileStart({ path }: { readonly path: string }): void {
    this.files.add(path);
    this.lastFile = Date.now();
  }

  onTestFileResult({ path }: { readonly path: string }): void {
    this.files.delete(path);
    this.lastFile = Date.now();
  }

  onRunComplete(): void {
    clearInterval(this.timer);
  }

  private async check(): Promise<void> {
    const now = Date.now();
    const all = readProgress().filter(({ pid }) => !this.ended.has(pid));
    // A worker whose file has ended waits for the next one, or loads it.
    const stuck = all.filter(({ file, since, limit }) => this.files.has(file) && now - since > limit + this.grace);
    const mayContinue = all.some(({ since, limit }) => now - since <= Math.max(limit + this.grace, this.silence));
    const isSilent = this.files.size > 0 && now - this.lastFile > this.silence && !mayContinue;
    for (const progress of isSilent ? all : stuck) if (!this.ended.has(progress.pid)) await this.end(progress);
  }

  private async end(progress: WorkerProgress): Promise<void> {
    const { pid, file, doing, since } = progress;
    this.ended.add(pid);
    const seconds = Math.round((Date.now() - since) / 1000);
    const files = [...this.files].map((each) => relative(ROOT, each)).join(', ');
    const description = await this.describeWorker(pid);
    const processes = listProcesses(pid);
    const lines = [
      `\nThe watchdog ends a worker that has made no progress for ${seconds} s.`,
      `File: ${relative(ROOT, file)}`,
      `It was in: ${doing}`,
      `Files under way: ${files}`,
      description,
      'Processes:',
      ...processes.map(({ row }) => row),
    ];
    process.stderr.write(`${lines.join('\n')}\n`);
    for (const each of [pid, ...processes.map((listed) => listed.pid)]) kill(each, 'SIGKILL');
    rmSync(join(this.folder, progressFile(process.pid, pid)), { force: true });
  }

  /** Returns the handles of a worker, which Node itself describes. */
  private async describeWorker(pid: number): Promise<string> {
    const path = join(this.folder, reportFile(pid));
    kill(pid, 'SIGUSR2');
    await wait(REPORT_MS);
    try {
      const { libuv = [] } = JSON.parse(readFileSync(path, 'utf8')) as NodeReport;
      const handles = libuv.filter((handle) => handle.is_active).map((handle) => `  ${JSON.stringify(handle)}`);
      return `Active handles:\n${handles.join('\n')}`;
    } catch {
      return 'The worker does not describe itself: it waits within a call such as spawnSync, or repeats a loop.';
    }
  }
}

const kill = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has ended meanwhile.
  }
};

const COLUMNS = ['pid=', 'ppid=', 'stat=', 'etime=', 'time=', 'wchan:24=', 'args='].flatMap((name) => ['-o', name]);

type ListedProcess = { readonly pid: number; readonly row: string };

/** Returns a process and its descendants: state, processor time, the function of the kernel that it waits in, command. */
const listProcesses = (root: number): readonly ListedProcess[] => {
  // Without `ps`, there is no list.
  const { stdout } = spawnSync('ps', ['-A', '-w', '-w', ...COLUMNS], { encoding: 'utf8' });
  const pids = new Set([root]);
  return (stdout ?? '').split('\n').flatMap((row): ListedProcess[] => {
    const [pid = 0, parent = 0] = row.trim().split(/\s+/, 2).map(Number);
    if (pids.has(parent)) pids.add(pid);
    return pids.has(pid) ? [{ pid, row: row.slice(0, 300) }] : [];
  });
};
