// CPU and memory of processes, from the kernel. Linux only.
import { readdirSync, readFileSync } from 'node:fs';

const TICK_MS = 10;
const KIB_PER_MB = 1024;

/**
 * Returns the numbers of /proc/PID/stat from the third field on (the name before them can contain any character), or
 * null if the process has ended.
 */
const statOf = (pid) => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return null;
  }
};

const childrenOf = (pid) =>
  readdirSync('/proc').filter((name) => /^\d+$/.test(name) && statOf(name)?.[1] === String(pid));

/** Returns the CPU ms of one process, without its children. */
export const cpuOf = (pid) => {
  const stat = statOf(pid);
  return stat ? (Number(stat[11]) + Number(stat[12])) * TICK_MS : 0;
};

/**
 * Returns the CPU ms of a process, its children, and its children that have ended, because backends of Postgres are
 * short-lived.
 */
export const cpuOfFamily = (pid) => {
  const stat = statOf(pid);
  const ended = stat ? (Number(stat[13]) + Number(stat[14])) * TICK_MS : 0;
  return childrenOf(pid).reduce((sum, child) => sum + cpuOf(child), cpuOf(pid) + ended);
};

const kibOf = (pid, file, field) => {
  try {
    return Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/${file}`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
};

export const memoryOf = (pid) => kibOf(pid, 'status', 'VmRSS') / KIB_PER_MB;
export const peakMemoryOf = (pid) => kibOf(pid, 'status', 'VmHWM') / KIB_PER_MB;

/** Counts shared pages once: every backend has shared_buffers. */
export const memoryOfFamily = (pid) =>
  [pid, ...childrenOf(pid)].reduce((sum, each) => sum + kibOf(each, 'smaps_rollup', 'Pss'), 0) / KIB_PER_MB;
