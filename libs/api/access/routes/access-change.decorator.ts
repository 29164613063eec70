import { ConfigureRoute } from './route-options.js';

/**
 * Limits calls of routes that create tokens or change an account to a few per second for each caller
 * (CADASTRE_ACCESS_CHANGE_LIMIT), because every gateway then reads callers again.
 */
export const LimitAccessChanges = (): MethodDecorator => ConfigureRoute({ changesAccess: true });
