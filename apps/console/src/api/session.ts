import { useSyncExternalStore } from 'react';

/* Whether the session of the person still counts. Requests wait while it has ended, so that nothing that is typed is lost. */

const store = { wasAccepted: false, hasEnded: false, waiting: [] as (() => void)[], listeners: new Set<() => void>() };

const subscribe = (listener: () => void) => {
  store.listeners.add(listener);
  return () => void store.listeners.delete(listener);
};

const setEnded = (hasEnded: boolean): void => {
  store.hasEnded = hasEnded;
  for (const listener of store.listeners) listener();
};

/** Records that the server has accepted the session since the page was opened. */
export const acceptSession = (): void => void (store.wasAccepted = true);

/** Returns whether the server has accepted the session since the page was opened. */
export const wasSessionAccepted = (): boolean => store.wasAccepted;

export const hasSessionEnded = (): boolean => store.hasEnded;

export const useSessionEnded = (): boolean => useSyncExternalStore(subscribe, hasSessionEnded);

/** Resolves when the person has signed in again. */
export const waitForSession = (): Promise<void> =>
  new Promise((resolve) => {
    store.waiting.push(resolve);
    setEnded(true);
  });

/** Sends the requests that wait. */
export const resumeRequests = (): void => {
  const requests = store.waiting;
  store.waiting = [];
  setEnded(false);
  for (const send of requests) send();
};
