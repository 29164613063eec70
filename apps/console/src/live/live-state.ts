import { createStore } from '../store.js';

/** `off`: there is no live stream, so screens that show progress poll. */
export type LiveState = 'off' | 'live' | 'reconnecting';

const liveState = createStore<LiveState>('off');

export const setLiveState = liveState.set;
export const useLiveState = liveState.useValue;

/** Returns the interval of a query in milliseconds, or false while the live stream reports changes. */
export const usePollInterval = (intervalMs: number): number | false => (useLiveState() === 'live' ? false : intervalMs);
