import type { RouteOptions } from '#access';
import { renderOauthRefusal } from './oauth-refusal.js';

/** Options of the endpoints that programs call without a token: forms, and errors in the format of OAuth. */
export const OAUTH_ROUTE: RouteOptions = {
  isPublic: true,
  formBody: true,
  bodyLimit: 16 * 1_024,
  refusalFormat: { mediaType: 'application/json', render: renderOauthRefusal },
};
