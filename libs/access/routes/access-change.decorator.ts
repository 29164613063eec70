import { ConfigureRoute } from './route-options.js';

/**
 * For routes that create tokens or change an account: each caller may use them only a few times per second
 * (CADASTRE_ACCESS_CHANGE_LIMIT), because every gateway then reads callers again.
 */
export const LimitAccessChanges = (): MethodDecorator => ConfigureRoute({ changesAccess: true });
