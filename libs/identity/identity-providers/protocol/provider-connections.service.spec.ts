import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { FixedClock } from '../../../../test/support/clocks.js';
import { startIdentityProvider, type TestIdentityProvider } from '../../../../test/support/identity-provider.js';
import { ProviderConnections } from './provider-connections.service.js';
import { ProviderFault } from './provider-fault.js';

const TIMEOUT_MS = 300;
const DISCOVERY = '/.well-known/openid-configuration';

let provider: TestIdentityProvider;
let clock: FixedClock;
let connections: ProviderConnections;

beforeAll(async () => {
  provider = await startIdentityProvider();
  provider.putClient({ client_id: 'cadastre', client_secret: 'x', redirect_uris: ['https://cadastre.example.com/'] });
});

afterAll(() => provider.close());

afterEach(() => {
  provider.setSilent(false);
  provider.setAway(false);
  provider.changeMetadata(null);
});

const restart = (): void => {
  clock = new FixedClock();
  connections = new ProviderConnections(clock, TIMEOUT_MS);
};

const countReads = (): number => provider.requests.filter((path) => path === DISCOVERY).length;
const use = () => connections.use(provider.issuer, ({ metadata }) => Promise.resolve(metadata.issuer));

const faultOf = async (work: Promise<unknown>): Promise<readonly string[] | null> => {
  try {
    await work;
    return null;
  } catch (error) {
    if (error instanceof ProviderFault) return [error.kind, error.message];
    throw error;
  }
};

describe('a provider', () => {
  it('is read once for ten minutes, also by requests at the same time', async () => {
    restart();
    const before = countReads();
    expect(await Promise.all([use(), use(), use()])).toEqual(Array(3).fill(provider.issuer));
    clock.pass({ minutes: 9 });
    await use();
    expect(countReads()).toBe(before + 1);
    clock.pass({ minutes: 1 });
    await use();
    expect(countReads()).toBe(before + 2);
  });

  it('that does not answer fails after the timeout, and at once for five seconds', async () => {
    restart();
    provider.setSilent(true);
    expect(await faultOf(use())).toEqual(['unreachable', 'localhost did not answer in time']);
    const before = provider.requests.length;
    expect(await faultOf(use())).toEqual(['unreachable', 'localhost did not answer in time']);
    expect(provider.requests).toHaveLength(before);
    provider.setSilent(false);
    clock.pass({ seconds: 5 });
    expect(await use()).toBe(provider.issuer);
  });

  it('that does not answer keeps only a few requests waiting', async () => {
    restart();
    provider.setSilent(true);
    const faults = await Promise.all(Array.from({ length: 40 }, () => faultOf(use())));
    expect(faults.filter((fault) => fault?.[1] === 'too many requests wait for the provider')).toHaveLength(8);
    provider.setSilent(false);
    clock.pass({ seconds: 5 });
    expect(await use()).toBe(provider.issuer);
  });

  it('ends the requests of one page together', async () => {
    restart();
    await use();
    provider.setSilent(true);
    const work = connections.use(provider.issuer, async ({ fetchFromProvider }) => {
      const request = { method: 'GET', headers: {}, body: null, redirect: 'manual' } as const;
      await faultOf(fetchFromProvider(`${provider.issuer}/me`, request));
      return fetchFromProvider(`${provider.issuer}/me`, request);
    });
    expect(await faultOf(work)).toEqual(['unreachable', 'localhost did not answer in time']);
  });
});

describe('the discovery document', () => {
  type Change = Parameters<TestIdentityProvider['changeMetadata']>[0];

  it.each<[string, Change, string]>([
    [
      'another issuer',
      (all) => ({ ...all, issuer: 'https://id.example.com' }),
      'calls itself "https://id.example.com"',
    ],
    ['no issuer', (all) => ({ ...all, issuer: undefined }), 'has no discovery document there'],
    ['no token endpoint', (all) => ({ ...all, token_endpoint: undefined }), 'publishes no token_endpoint'],
    ['no keys', (all) => ({ ...all, jwks_uri: undefined }), 'publishes no jwks_uri'],
    ['plain HTTP', (all) => ({ ...all, token_endpoint: 'http://id.example.com/token' }), 'an insecure token_endpoint'],
    [
      'a script',
      (all) => ({ ...all, authorization_endpoint: 'javascript:alert(1)' }),
      'an insecure authorization_endpoint',
    ],
    ['no text', (all) => ({ ...all, end_session_endpoint: { a: 1 } }), 'an insecure end_session_endpoint'],
    [
      'no code',
      (all) => ({ ...all, response_types_supported: ['id_token'] }),
      'does not support the response type code',
    ],
    [
      'symmetric algorithms only',
      (all) => ({ ...all, id_token_signing_alg_values_supported: ['HS256', 'none'] }),
      'signs ID tokens with none of RS256',
    ],
    [
      'plain PKCE only',
      (all) => ({ ...all, code_challenge_methods_supported: ['plain'] }),
      'does not support PKCE with S256',
    ],
  ])('is refused with %s', async (_, change, message) => {
    restart();
    provider.changeMetadata(change);
    expect(await faultOf(connections.check(provider.issuer))).toEqual(['invalid', expect.stringContaining(message)]);
  });

  it('is accepted without the members that a provider may leave out', async () => {
    restart();
    provider.changeMetadata((all) => ({
      ...all,
      response_types_supported: undefined,
      id_token_signing_alg_values_supported: undefined,
      code_challenge_methods_supported: undefined,
      userinfo_endpoint: undefined,
      end_session_endpoint: undefined,
      authorization_endpoint: `${provider.issuer}/auth?tenant=1`,
    }));
    expect(await faultOf(connections.check(provider.issuer))).toBeNull();
  });
});
