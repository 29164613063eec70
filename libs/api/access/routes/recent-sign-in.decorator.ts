import { ConfigureRoute } from './route-options.js';

/** Refuses sessions without a recent sign-in. For routes whose result gives access after the session has ended. */
export const RequireRecentSignIn = (): MethodDecorator => ConfigureRoute({ needsRecentSignIn: true });
