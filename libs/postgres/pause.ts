import { setTimeout as wait } from 'node:timers/promises';

/** For who goes through much, and leaves room for others in between. Resolves early where it is to stop. */
export const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  wait(ms, undefined, signal ? { signal } : {}).then(undefined, () => undefined);
