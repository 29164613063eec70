import { Refusal } from '#kernel';
import type { Identity } from './actor.js';

/** Changes of factors and new tokens need a sign-in of this time. */
export const RECENT_SIGN_IN_MS = 15 * 60_000;

/** Returns whether the person of a session has proved a short time ago who they are. Always false for tokens. */
export const hasRecentSignIn = ({ provedAt }: Pick<Identity, 'provedAt'>, now: Date): boolean =>
  provedAt !== null && now.getTime() - Date.parse(provedAt) < RECENT_SIGN_IN_MS;

/** Returns the refusal of a session that is too old. Browsers can open the page that it names, and send the request again. */
export const createRecentSignInRefusal = (): Refusal =>
  new Refusal('forbidden', [
    {
      detail:
        'This needs a sign-in of the last 15 minutes. Sign in again at /sign-in?confirm=1, and send the request again.',
      meta: { required: 'recent-sign-in' },
    },
  ]);
