import { setTimeout as delay } from 'node:timers/promises';
import type { SandboxLimits, SandboxMount } from '../sandbox.js';
import { measureDisk } from './disk.js';
import { measureMemory } from './memory.js';

const MEMORY_PAUSE_MS = 500;
const DISK_PAUSE_MS = 1_000;
/** Large work trees are measured less often, so that a measurement takes at most this part of the time. */
const DISK_SHARE = 10;

type WatchedUsage = {
  /** The process whose descendants count; null if the kernel limits their memory. */
  readonly pid: number | null;
  readonly mounts: readonly SandboxMount[];
  readonly limits: SandboxLimits;
};

const measureMounts = async (mounts: readonly SandboxMount[], limit: number): Promise<number> => {
  let total = 0;
  for (const { source, writable } of mounts) if (writable) total += await measureDisk(source, limit - total);
  return total;
};

/** Resolves to false after an abort. */
const pause = (ms: number, signal: AbortSignal): Promise<boolean> => delay(ms, true, { signal }).catch(() => false);

const watchMemory = async (pid: number, { memoryBytes }: SandboxLimits, signal: AbortSignal): Promise<boolean> => {
  while (await pause(MEMORY_PAUSE_MS, signal)) if ((await measureMemory(pid)) > memoryBytes) return true;
  return false;
};

const watchDisk = async (
  mounts: readonly SandboxMount[],
  { diskBytes }: SandboxLimits,
  signal: AbortSignal,
): Promise<boolean> => {
  let ms = DISK_PAUSE_MS;
  while (await pause(ms, signal)) {
    const startedAt = performance.now();
    if ((await measureMounts(mounts, diskBytes)) > diskBytes) return true;
    ms = Math.max(DISK_PAUSE_MS, (performance.now() - startedAt) * DISK_SHARE);
  }
  return false;
};

/** Measures what a command uses, and reports the first limit that it exceeds. Stops after an abort. */
export const watchUsage = (
  { pid, mounts, limits }: WatchedUsage,
  signal: AbortSignal,
  onExceeded: (limit: 'memory' | 'disk') => void,
): void => {
  const report = (limit: 'memory' | 'disk') => (isExceeded: boolean) => {
    if (isExceeded && !signal.aborted) onExceeded(limit);
  };
  if (pid !== null) void watchMemory(pid, limits, signal).then(report('memory'));
  void watchDisk(mounts, limits, signal).then(report('disk'));
};
