import { useSyncExternalStore } from 'react';

/** `off`: there is no live stream, so screens that show progress poll. */
type LiveState = 'off' | 'live' | 'reconnecting';

const store = { state: 'off' as LiveState, listeners: new Set<() => void>() };

const subscribe = (listener: () => void) => {
  store.listeners.add(listener);
  return () => void store.listeners.delete(listener);
};

export const setLiveState = (state: LiveState): void => {
  if (store.state === state) return;
  store.state = state;
  for (const listener of store.listeners) listener();
};

export const useLiveState = (): LiveState => useSyncExternalStore(subscribe, () => store.state);

/** Returns the interval of a query in milliseconds, or false while the live stream reports changes. */
export const usePollInterval = (intervalMs: number): number | false => (useLiveState() === 'live' ? false : intervalMs);
