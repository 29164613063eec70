import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { getErrorCode } from '#platform/kernel';

/** Sends a signal to a process, or with a negative id to a process group, unless it has ended. */
export const sendSignal = (id: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(id, signal);
  } catch (error) {
    if (getErrorCode(error) !== 'ESRCH') throw error;
  }
};

const POLL_MS = 10;

/** Returns false also for a process that only its parent has not yet noticed to have ended. */
const isRunning = async (id: number): Promise<boolean> => {
  try {
    const stat = await readFile(`/proc/${id}/stat`, 'utf8');
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
  } catch {
    return false;
  }
};

/** Resolves when a process has ended that is no child of this one. */
export const waitUntilEnded = async (id: number): Promise<void> => {
  while (await isRunning(id)) await delay(POLL_MS);
};
