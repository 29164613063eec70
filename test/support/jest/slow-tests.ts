import { readFileSync } from 'node:fs';
import { relative, join } from 'node:path';
import type { Reporter, Test, TestResult } from '@jest/reporters';
import { readProgress } from './progress.ts';

const ROOT = join(import.meta.dirname, '../../..');
const SLOW_MS = 10_000;
const COSTLY_SECONDS = 20;
const TICKS_PER_SECOND = 100;

/** Returns the CPU time in s of a process and of the children that it has waited for. 0 if the system does not show it. */
const readCpuSeconds = (pid: number): number => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name before the fields is in parentheses and may contain any character.
    const times = stat.slice(stat.lastIndexOf(')')).split(' ').slice(12, 16);
    return times.reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND;
  } catch {
    return 0;
  }
};

const printList = (title: string, rows: readonly (readonly [label: string, seconds: number])[]): void => {
  if (rows.length === 0) return;
  const lines = rows
    .toSorted(([, a], [, b]) => b - a)
    .map(([label, seconds]) => `${seconds.toFixed(1).padStart(6)} s  ${label}`);
  process.stderr.write(`\n${title}:\n${lines.join('\n')}\n`);
};

/**
 * Lists slow tests at the end, and files that took much CPU. Jest itself only marks slow files, whose time depends on what else
 * the machine does.
 */
export default class SlowTests implements Pick<Reporter, 'onTestResult' | 'onRunComplete'> {
  private readonly slow: [string, number][] = [];
  private readonly costly: [string, number][] = [];
  /** CPU time of each worker until the end of its last file. */
  private readonly spent = new Map<number, number>();

  onTestResult({ path }: Test, { testResults }: TestResult): void {
    for (const { duration, ancestorTitles, title } of testResults)
      if (duration && duration > SLOW_MS)
        this.slow.push([[path, ...ancestorTitles, title].join(' › '), duration / 1000]);
    const worker = readProgress().find(({ file }) => file === path);
    if (worker) this.addCost(path, worker.pid);
  }

  private addCost(path: string, pid: number): void {
    const total = readCpuSeconds(pid);
    const seconds = total - (this.spent.get(pid) ?? 0);
    this.spent.set(pid, total);
    if (seconds > COSTLY_SECONDS) this.costly.push([relative(ROOT, path), seconds]);
  }

  onRunComplete(): void {
    printList(`Tests that took more than ${SLOW_MS / 1000} s`, this.slow);
    printList(`Files that took more than ${COSTLY_SECONDS} s of CPU, without their Postgres`, this.costly);
  }
}
