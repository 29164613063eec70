import { Refusal } from '#platform/kernel';
import type { Identity } from '../callers/actor.js';

/** Maximum age of the sign-in of a session that changes sign-in methods or creates tokens. */
export const RECENT_SIGN_IN_MS = 15 * 60_000;

/** Returns whether the person of a session signed in less than 15 minutes ago. Always false for tokens. */
export const hasRecentSignIn = ({ provedAt }: Pick<Identity, 'provedAt'>, now: Date): boolean =>
  provedAt !== null && now.getTime() - Date.parse(provedAt) < RECENT_SIGN_IN_MS;

/** Returns the refusal of a session whose sign-in is too old. It names the page on which the person signs in again. */
export const createRecentSignInRefusal = (): Refusal =>
  new Refusal('forbidden', [
    {
      detail:
        'This needs a sign-in of the last 15 minutes. Sign in again at /sign-in?confirm=1, and send the request again.',
      meta: { required: 'recent-sign-in' },
    },
  ]);
