import { renderOauthRefusal, type ErrorFormat, type RequestProblem } from '#api/json-api';

/** The endpoints that programs call, and whose errors have the format of RFC 6749 §5.2. */
const PREFIXES = ['/oauth/token', '/oauth/revoke', '/oauth/back-channel-logout/'];

const render = ({ status, detail, refused }: RequestProblem) => ({
  status,
  body: refused ? renderOauthRefusal(refused) : { error: 'server_error', error_description: detail },
});

export const oauthErrorFormats: readonly ErrorFormat[] = PREFIXES.map((prefix) => ({
  prefix,
  mediaType: 'application/json',
  render,
}));
