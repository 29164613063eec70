import { setTimeout as wait } from 'node:timers/promises';

/**
 * Waits, for example between the pages of a long scan, so that other work can run. Resolves early if the signal aborts.
 */
export const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  wait(ms, undefined, signal ? { signal } : {}).then(undefined, () => undefined);
