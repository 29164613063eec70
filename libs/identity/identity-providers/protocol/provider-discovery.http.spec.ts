import { describe, expect, it } from '@jest/globals';
import { discoverProvider } from './provider-discovery.http.js';

const ISSUER = 'https://id.example.com';

const discover = (endpoints: object) => {
  const metadata = {
    issuer: ISSUER,
    authorization_endpoint: `${ISSUER}/authorize`,
    token_endpoint: `${ISSUER}/token`,
    jwks_uri: `${ISSUER}/keys`,
    ...endpoints,
  };
  return discoverProvider(ISSUER, () => Promise.resolve(Response.json(metadata)));
};

describe('a provider with an HTTPS issuer', () => {
  it('is accepted with HTTPS endpoints', async () => {
    expect(await discover({ userinfo_endpoint: 'https://api.example.com/me?v=1' })).toMatchObject({ issuer: ISSUER });
  });

  it.each(['authorization_endpoint', 'token_endpoint', 'jwks_uri', 'userinfo_endpoint', 'end_session_endpoint'])(
    'is refused with %s on this machine by plain HTTP',
    async (name) => {
      await expect(discover({ [name]: 'http://localhost:8080/internal' })).rejects.toMatchObject({
        kind: 'invalid',
        message: `the provider publishes an insecure ${name}`,
      });
    },
  );
});
