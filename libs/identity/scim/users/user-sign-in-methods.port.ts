import type { EventContext } from '#platform/kernel';

/** Port for the sign-in methods of a user, which the module of sign-in keeps. */
export abstract class UserSignInMethods {
  /** Removes the password, one-time codes, passkeys, sign-in links and linked identities, and ends all sessions. */
  abstract reset(user: string, context: EventContext): Promise<void>;
}
