import { stat, statfs } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { ExceededLimit, SandboxLimits, SandboxMount } from '../sandbox.js';
import { measureDeletedFiles } from './deleted-files.js';
import { measureDisk } from './disk.js';
import { measureMemory } from './memory.js';

const MEMORY_PAUSE_MS = 500;
const DISK_PAUSE_MS = 1_000;
/** Large work trees are measured less often, so that a measurement takes at most this part of the time. */
const DISK_SHARE = 10;

type WatchedUsage = {
  /** The process that counts with its descendants. */
  readonly pid: number;
  /** Whether the kernel limits their memory. */
  readonly isMemoryLimited: boolean;
  readonly mounts: readonly SandboxMount[];
  readonly limits: SandboxLimits;
};

/** A run that uses less is stopped only if the disk is nearly full, because it did not fill it. */
const SMALL_BYTES = 64 * 1024 * 1024;

const measureUse = async ({ pid, limits }: WatchedUsage, folders: readonly string[]): Promise<number> => {
  const devices = await Promise.all(folders.map(async (folder) => (await stat(folder)).dev));
  let total = await measureDeletedFiles(pid, new Set(devices));
  for (const folder of folders) total += await measureDisk(folder, limits.diskBytes - total);
  return total;
};

/** Returns the space that users other than root have on the file system of a folder. */
const measureFreeSpace = async (folder: string): Promise<number> => {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
};

const findExceededDisk = async (usage: WatchedUsage): Promise<'disk' | 'space' | null> => {
  const { diskBytes, freeBytes } = usage.limits;
  const folders = usage.mounts.filter(({ writable }) => writable).map(({ source }) => source);
  const used = await measureUse(usage, folders);
  if (used > diskBytes) return 'disk';
  const free = Math.min(...(await Promise.all(folders.map(measureFreeSpace))));
  const isShort = free < (used > SMALL_BYTES ? freeBytes : freeBytes / 2);
  return isShort ? 'space' : null;
};

/** Resolves to false after an abort. */
const pause = (ms: number, signal: AbortSignal): Promise<boolean> => delay(ms, true, { signal }).catch(() => false);

const watchMemory = async ({ pid, limits }: WatchedUsage, signal: AbortSignal): Promise<ExceededLimit | null> => {
  while (await pause(MEMORY_PAUSE_MS, signal)) if ((await measureMemory(pid)) > limits.memoryBytes) return 'memory';
  return null;
};

const watchDisk = async (usage: WatchedUsage, signal: AbortSignal): Promise<ExceededLimit | null> => {
  let ms = DISK_PAUSE_MS;
  while (await pause(ms, signal)) {
    const startedAt = performance.now();
    const exceeded = await findExceededDisk(usage);
    if (exceeded !== null) return exceeded;
    ms = Math.max(DISK_PAUSE_MS, (performance.now() - startedAt) * DISK_SHARE);
  }
  return null;
};

/** Measures what a command uses, and reports the first limit that it exceeds. Stops after an abort. */
export const watchUsage = (
  usage: WatchedUsage,
  signal: AbortSignal,
  onExceeded: (limit: ExceededLimit) => void,
): void => {
  const report = (exceeded: ExceededLimit | null): void => {
    if (exceeded !== null && !signal.aborted) onExceeded(exceeded);
  };
  if (!usage.isMemoryLimited) void watchMemory(usage, signal).then(report);
  // The folder of a run that has just ended may be gone.
  void watchDisk(usage, signal).then(report, () => undefined);
};
