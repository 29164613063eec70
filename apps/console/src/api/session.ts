import { useSyncExternalStore } from 'react';

/* Whether the session of the person is valid. While it is not, requests wait, so that no entered text is lost. */

/**
 * Why requests wait: the session has ended, or a change needs a recent sign-in. `recent-again`: the person continued without
 * a new sign-in, and the server refused the change again.
 */
export type SignInDemand = 'ended' | 'recent' | 'recent-again';

type PausedRequest = { readonly demand: SignInDemand; readonly settle: (isResumed: boolean) => void };

const store = {
  wasAccepted: false,
  demand: null as SignInDemand | null,
  waiting: [] as PausedRequest[],
  listeners: new Set<() => void>(),
};

const subscribe = (listener: () => void) => {
  store.listeners.add(listener);
  return () => void store.listeners.delete(listener);
};

/** An ended session has precedence over a change that needs a recent sign-in. */
const setWaiting = (waiting: PausedRequest[]): void => {
  store.waiting = waiting;
  store.demand = (waiting.find(({ demand }) => demand === 'ended') ?? waiting.at(-1))?.demand ?? null;
  for (const listener of store.listeners) listener();
};

/** Records that the server has accepted the session since the page was opened. */
export const acceptSession = (): void => void (store.wasAccepted = true);

/** Returns whether the server has accepted the session since the page was opened. */
export const wasSessionAccepted = (): boolean => store.wasAccepted;

const getSignInDemand = (): SignInDemand | null => store.demand;

/** Returns whether requests wait until the person has signed in again. */
export const isSignInDemanded = (): boolean => store.demand !== null;

export const useSignInDemand = (): SignInDemand | null => useSyncExternalStore(subscribe, getSignInDemand);

/** Resolves to true when the person has signed in again, or to false if they gave up the change. */
export const waitForSignIn = (demand: SignInDemand): Promise<boolean> =>
  new Promise((settle) => {
    setWaiting([...store.waiting, { demand, settle }]);
  });

/** Sends the requests that wait. */
export const resumeRequests = (): void => {
  const requests = store.waiting;
  setWaiting([]);
  for (const { settle } of requests) settle(true);
};

/** Refuses the changes that wait for a recent sign-in. */
export const giveUpChanges = (): void => {
  const changes = store.waiting.filter(({ demand }) => demand !== 'ended');
  setWaiting(store.waiting.filter(({ demand }) => demand === 'ended'));
  for (const { settle } of changes) settle(false);
};
