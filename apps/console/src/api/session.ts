import { createStore } from '../store.js';

/* Whether the session of the person is valid. While it is not, requests wait, so that no entered text is lost. */

/**
 * Why requests wait: the session has ended, or a change needs a recent sign-in. `recent-again`: the person continued without
 * a new sign-in, and the server refused the change again.
 */
export type SignInDemand = 'ended' | 'recent' | 'recent-again';

type PausedRequest = { readonly demand: SignInDemand; readonly settle: (isResumed: boolean) => void };

const session = { wasAccepted: false };
const waiting = createStore<readonly PausedRequest[]>([]);

/** An ended session has precedence over a change that needs a recent sign-in. */
const findDemand = (requests: readonly PausedRequest[]): SignInDemand | null =>
  (requests.find(({ demand }) => demand === 'ended') ?? requests.at(-1))?.demand ?? null;

/** Records that the server has accepted the session since the page was opened. */
export const acceptSession = (): void => void (session.wasAccepted = true);

/** Returns whether the server has accepted the session since the page was opened. */
export const wasSessionAccepted = (): boolean => session.wasAccepted;

/** Returns whether requests wait until the person has signed in again. */
export const isSignInDemanded = (): boolean => waiting.get().length > 0;

export const useSignInDemand = (): SignInDemand | null => findDemand(waiting.useValue());

/** Resolves to true when the person has signed in again, or to false if they gave up the change. */
export const waitForSignIn = (demand: SignInDemand): Promise<boolean> =>
  new Promise((settle) => {
    waiting.set([...waiting.get(), { demand, settle }]);
  });

/** Sends the requests that wait. */
export const resumeRequests = (): void => {
  const requests = waiting.get();
  waiting.set([]);
  for (const { settle } of requests) settle(true);
};

/** Refuses the changes that wait for a recent sign-in. */
export const giveUpChanges = (): void => {
  const requests = waiting.get();
  waiting.set(requests.filter(({ demand }) => demand === 'ended'));
  for (const { demand, settle } of requests) if (demand !== 'ended') settle(false);
};
