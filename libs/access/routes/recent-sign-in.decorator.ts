import { ConfigureRoute } from './route-options.js';

/** Requires of sessions a recent sign-in: on routes whose result gives access after the session has ended. */
export const RequireRecentSignIn = (): MethodDecorator => ConfigureRoute({ needsRecentSignIn: true });
