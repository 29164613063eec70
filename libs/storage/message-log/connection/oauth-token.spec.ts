import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startTokenEndpoint, type TokenEndpoint } from '../../../../test/support/kafka/token-endpoint.js';
import { createTokenSource } from './oauth-token.js';

let endpoint: TokenEndpoint;
let now: number;

beforeEach(async () => {
  endpoint = await startTokenEndpoint(100);
  now = 1_000_000;
});
afterEach(() => endpoint.close());

const source = (changes: { readonly clientSecret?: string } = {}) => {
  const { url: tokenUrl, clientId, clientSecret } = endpoint;
  return createTokenSource({ tokenUrl, clientId, clientSecret, scope: null, ...changes }, () => now);
};

describe('a source of access tokens', () => {
  it('keeps a token until a quarter of its lifetime is left', async () => {
    const { token } = source();
    const first = await token();
    now += 74_999;
    expect(await token()).toBe(first);
    expect(endpoint.requests).toHaveLength(1);
    now += 1;
    await token();
    expect(endpoint.requests).toHaveLength(2);
  });

  it('gets a new token after one was refused', async () => {
    const { token, discard } = source();
    await token();
    discard();
    await token();
    expect(endpoint.requests).toHaveLength(2);
  });

  it('makes one request for callers at the same time', async () => {
    const { token } = source();
    const tokens = await Promise.all([token(), token(), token()]);
    expect(new Set(tokens).size).toBe(1);
    expect(endpoint.requests).toHaveLength(1);
  });

  it('makes a new request after a failure', async () => {
    const { token } = source();
    const { clientSecret } = endpoint;
    const { token: wrong } = source({ clientSecret: 'wrong' });
    await expect(wrong()).rejects.toThrow(`the token endpoint ${endpoint.url} answered 401 (invalid_client)`);
    await expect(wrong()).rejects.toThrow('invalid_client');
    expect(endpoint.requests).toHaveLength(2);
    expect(await token()).not.toContain(clientSecret);
  });

  it('reports an endpoint that cannot be reached', async () => {
    const { token } = createTokenSource({
      tokenUrl: 'http://127.0.0.1:1/token',
      clientId: 'a',
      clientSecret: 'b',
      scope: null,
    });
    await expect(token()).rejects.toThrow(/^the token endpoint http:\/\/127.0.0.1:1\/token cannot be reached: /);
  });
});
