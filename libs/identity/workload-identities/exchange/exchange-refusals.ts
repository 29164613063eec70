import { OauthRefusal } from '#api/json-api/rules';

const RETRY_SECONDS = 10;

export const invalidRequest = (description: string): OauthRefusal => new OauthRefusal('invalid_request', description);

/** Returns a 503: the client can send the same request again later. */
export const temporarilyUnavailable = (description: string): OauthRefusal =>
  new OauthRefusal('temporarily_unavailable', description, { kind: 'unavailable', retryAfter: RETRY_SECONDS });
