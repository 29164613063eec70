// What processes cost, as the kernel counts it. Linux only.
import { readdirSync, readFileSync } from 'node:fs';

const TICK_MS = 10;
const KIB_PER_MB = 1024;

/** The numbers of /proc/PID/stat from the third field on (the name before them may hold anything); null: it is gone. */
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

/** CPU ms of one process, without its children. */
export const cpuOf = (pid) => {
  const stat = statOf(pid);
  return stat ? (Number(stat[11]) + Number(stat[12])) * TICK_MS : 0;
};

/** CPU ms of a process, its children, and those of its children that have ended: backends of Postgres come and go. */
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

/** Shared pages are counted once: shared_buffers are in every backend. */
export const memoryOfFamily = (pid) =>
  [pid, ...childrenOf(pid)].reduce((sum, each) => sum + kibOf(each, 'smaps_rollup', 'Pss'), 0) / KIB_PER_MB;
