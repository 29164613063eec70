import { useSyncExternalStore } from 'react';

const STORAGE_KEY = 'exact-times';

const choice = { isExact: localStorage.getItem(STORAGE_KEY) === 'on', listeners: new Set<() => void>() };

const change = (isExact: boolean): void => {
  choice.isExact = isExact;
  for (const listener of choice.listeners) listener();
};

// The choice in another tab applies here too.
addEventListener('storage', ({ key, newValue }) => {
  if (key === STORAGE_KEY) change(newValue === 'on');
});

const subscribe = (listener: () => void): (() => void) => {
  choice.listeners.add(listener);
  return () => void choice.listeners.delete(listener);
};

/** Returns whether the reader wants dates and times instead of distances such as `3 minutes ago`. */
export const useExactTimes = (): boolean => useSyncExternalStore(subscribe, () => choice.isExact);

export const setExactTimes = (isExact: boolean): void => {
  localStorage.setItem(STORAGE_KEY, isExact ? 'on' : 'off');
  change(isExact);
};
