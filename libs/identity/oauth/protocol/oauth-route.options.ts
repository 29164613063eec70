import type { RouteOptions } from '#api/access';

/** Options of the endpoints that programs call without a token: forms of a limited size. */
export const OAUTH_ROUTE: RouteOptions = {
  isPublic: true,
  formBody: true,
  bodyLimit: 16 * 1_024,
};
