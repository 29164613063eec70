import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose';
import { createOutboundFetch, PrivateHosts } from '#platform/outbound';
import { FixedClock } from '../../../../test/support/clocks.js';
import { waitUntil } from '../../../../test/support/product.js';
import { IssuerKeys, KEY_LIMITS } from './issuer-keys.service.js';
import { OauthRefusal, renderOauthRefusal, type OauthErrorDocument } from '#api/json-api';
import { SubjectTokenVerifier } from './subject-token.verifier.js';

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

const clock = new FixedClock();
let server: Server;
let issuer: string;
let handle: Handle;
let requests: string[];
let rsa: { readonly privateKey: CryptoKey; readonly jwk: JWK };

const listen = async (to: Server): Promise<number> => {
  await new Promise<void>((resolve) => to.listen(0, '127.0.0.1', resolve));
  return (to.address() as AddressInfo).port;
};

const makeKey = async (alg: string, kid?: string) => {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { privateKey, jwk: { ...(await exportJWK(publicKey)), ...(kid === undefined ? {} : { kid }) } };
};

beforeAll(async () => {
  server = createServer((request, response) => {
    requests.push(request.url ?? '');
    handle(request, response);
  });
  issuer = `http://localhost:${await listen(server)}`;
  rsa = await makeKey('RS256', 'rsa');
});

beforeEach(() => {
  requests = [];
});

afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const CONFIGURATION = '/.well-known/openid-configuration';

const sendJson = (response: ServerResponse, body: unknown): void => {
  response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
};

/** Makes the issuer send this configuration and these keys. */
const serve = (configuration: unknown, keys: unknown = { keys: [] }): void => {
  handle = ({ url }, response) => sendJson(response, url === CONFIGURATION ? configuration : keys);
};

const configuration = () => ({ issuer, jwks_uri: `${issuer}/jwks` });

const createKeys = (
  permitted: readonly string[] = ['localhost'],
  timeoutMs: number = KEY_LIMITS.timeoutMs,
): IssuerKeys =>
  new IssuerKeys(createOutboundFetch({ privateHosts: new PrivateHosts(permitted), ...KEY_LIMITS, timeoutMs }), clock);

const refusalOf = async (work: Promise<unknown>): Promise<OauthErrorDocument | null> => {
  try {
    await work;
    return null;
  } catch (error) {
    if (error instanceof OauthRefusal) return renderOauthRefusal(error);
    throw error;
  }
};

const refused = (error: string, reason: string) => ({
  error,
  error_description: `The keys of the issuer ${issuer} cannot be read: ${reason}`,
});

describe('the keys of an issuer cannot be read', () => {
  it.each<[string, () => unknown, string]>([
    ['without a configuration', () => [], 'its OpenID configuration has no issuer or no jwks_uri'],
    ['without an address of keys', () => ({ issuer }), 'its OpenID configuration has no issuer or no jwks_uri'],
    [
      'if another issuer is named',
      () => ({ ...configuration(), issuer: 'https://token.actions.githubusercontent.com' }),
      'its OpenID configuration names another issuer',
    ],
    [
      'from an address without HTTPS',
      () => ({ ...configuration(), jwks_uri: 'http://keys.example/jwks' }),
      'the jwks_uri of its OpenID configuration has no https',
    ],
    [
      'from a file',
      () => ({ ...configuration(), jwks_uri: 'file:///etc/passwd' }),
      'the jwks_uri of its OpenID configuration has no https',
    ],
    [
      'from a private address that the setting does not permit',
      () => ({ ...configuration(), jwks_uri: configuration().jwks_uri.replace('localhost', '127.0.0.1') }),
      '127.0.0.1 has a private address, which CADASTRE_OUTBOUND_PRIVATE_HOSTS does not permit',
    ],
    [
      'from a metadata service of a cloud',
      () => ({ ...configuration(), jwks_uri: 'https://169.254.169.254/latest' }),
      '169.254.169.254 has a private address, which CADASTRE_OUTBOUND_PRIVATE_HOSTS does not permit',
    ],
  ])('%s', async (_, document, reason) => {
    serve(document());
    expect(await refusalOf(createKeys().read(issuer))).toEqual(refused('invalid_request', reason));
  });

  it.each<[string, unknown]>([
    ['an object without keys', {}],
    ['a list', []],
    ['more than 100 keys', { keys: Array.from({ length: 101 }, () => ({ kty: 'RSA' })) }],
  ])('if the keys are %s', async (_, keys) => {
    serve(configuration(), keys);
    const reason = 'its jwks_uri returns no key set of at most 100 keys';
    expect(await refusalOf(createKeys().read(issuer))).toEqual(refused('invalid_request', reason));
  });

  it.each<[string, Handle, 'invalid_request' | 'temporarily_unavailable', string]>([
    [
      'a redirect',
      (_, response) => response.writeHead(302, { location: '/jwks' }).end(),
      'invalid_request',
      'localhost redirected the request, which is not permitted here',
    ],
    ['text', (_, response) => response.end('<html>'), 'invalid_request', 'it responds with text that is not JSON'],
    ['status 404', (_, response) => response.writeHead(404).end(), 'invalid_request', 'it responds with status 404'],
    [
      'status 503',
      (_, response) => response.writeHead(503).end(),
      'temporarily_unavailable',
      'it responds with status 503',
    ],
    [
      'status 429',
      (_, response) => response.writeHead(429).end(),
      'temporarily_unavailable',
      'it responds with status 429',
    ],
    [
      'a broken connection',
      ({ socket }) => socket.destroy(),
      'temporarily_unavailable',
      'localhost could not be reached',
    ],
    [
      'a large document',
      (_, response) => response.end(JSON.stringify({ padding: 'x'.repeat(KEY_LIMITS.maxBytes) })),
      'invalid_request',
      'localhost sent a response that is too large',
    ],
  ])('if the issuer sends %s', async (_, send, error, reason) => {
    handle = send;
    expect(await refusalOf(createKeys().read(issuer))).toEqual(refused(error, reason));
    // The second request, for the keys, has the same limits.
    handle = (request, response) =>
      request.url === CONFIGURATION ? sendJson(response, configuration()) : send(request, response);
    expect(await refusalOf(createKeys().read(issuer))).toEqual(refused(error, reason));
  });

  it('if the issuer has a private address, which is not contacted', async () => {
    const description = 'localhost has a private address, which CADASTRE_OUTBOUND_PRIVATE_HOSTS does not permit';
    expect(await refusalOf(createKeys([]).read(issuer))).toEqual(refused('invalid_request', description));
    expect(requests).toEqual([]);
  });

  it('if the issuer does not answer in time', async () => {
    handle = () => undefined;
    expect(await refusalOf(createKeys(['localhost'], 100).read(issuer))).toEqual(
      refused('temporarily_unavailable', 'localhost did not answer in time'),
    );
  });
});

/** Starts another issuer, which answers. */
const startOtherIssuer = async (): Promise<{ readonly issuer: string; close(): Promise<unknown> }> => {
  const other = createServer(({ url }, response) =>
    sendJson(response, url === CONFIGURATION ? { issuer: otherIssuer, jwks_uri: `${otherIssuer}/jwks` } : { keys: [] }),
  );
  const otherIssuer = `http://localhost:${await listen(other)}`;
  const close = () => {
    other.closeAllConnections();
    return new Promise((resolve) => other.close(resolve));
  };
  return { issuer: otherIssuer, close };
};

const TOO_MANY = () => ({
  error: 'temporarily_unavailable',
  error_description: `Too many requests wait for the keys of the issuer ${issuer}`,
});

describe('a failure to read keys', () => {
  it('is remembered for ten seconds', async () => {
    handle = (_, response) => response.writeHead(503).end();
    const keys = createKeys();
    expect((await refusalOf(keys.read(issuer)))?.error).toBe('temporarily_unavailable');
    serve(configuration());
    clock.pass({ seconds: 9 });
    expect((await refusalOf(keys.read(issuer)))?.error).toBe('temporarily_unavailable');
    expect(requests).toHaveLength(1);
    clock.pass({ seconds: 1 });
    expect(await refusalOf(keys.read(issuer))).toBeNull();
  });

  it('lets only one request wait for the next attempt', async () => {
    handle = (_, response) => response.writeHead(503).end();
    const keys = createKeys();
    expect((await refusalOf(keys.read(issuer)))?.error).toBe('temporarily_unavailable');
    clock.pass({ seconds: 10 });
    serve(configuration());
    const attempt = refusalOf(keys.read(issuer));
    expect(await refusalOf(keys.read(issuer))).toEqual(TOO_MANY());
    expect(await attempt).toBeNull();
  });
});

describe('keys that were read', () => {
  it('are used for ten minutes, and read again in the second half without a wait', async () => {
    serve(configuration(), { keys: [rsa.jwk] });
    const keys = createKeys();
    const first = await keys.read(issuer);
    clock.pass({ minutes: 4 });
    expect(await keys.read(issuer)).toBe(first);
    expect(requests).toHaveLength(2);
    clock.pass({ minutes: 1 });
    expect(await keys.read(issuer)).toBe(first);
    await waitUntil(async () => (await keys.read(issuer)) !== first, 'newer keys are used');
    expect(requests).toHaveLength(4);
  });

  it('stay in use if the issuer is away, until they are ten minutes old', async () => {
    serve(configuration(), { keys: [rsa.jwk] });
    const keys = createKeys();
    const first = await keys.read(issuer);
    handle = (_, response) => response.writeHead(503).end();
    clock.pass({ minutes: 9 });
    expect(await keys.read(issuer)).toBe(first);
    await waitUntil(() => requests.length === 3, 'the issuer gets a request');
    clock.pass({ minutes: 1 });
    expect((await refusalOf(keys.read(issuer)))?.error).toBe('temporarily_unavailable');
  });
});

describe('an issuer that does not answer', () => {
  it('lets 200 requests wait, refuses others at once, and does not delay other issuers', async () => {
    const silent: ServerResponse[] = [];
    handle = (_, response) => void silent.push(response);
    const other = await startOtherIssuer();
    const keys = createKeys();
    const reads = Array.from({ length: 200 }, () => refusalOf(keys.read(issuer)));
    expect(await refusalOf(keys.read(issuer))).toEqual(TOO_MANY());
    expect(await refusalOf(keys.read(other.issuer))).toBeNull();
    await waitUntil(() => silent.length === 1, 'the issuer gets one request');
    serve(configuration());
    sendJson(silent[0] as ServerResponse, configuration());
    expect(await Promise.all(reads)).toEqual(reads.map(() => null));
    expect(requests).toEqual([CONFIGURATION, '/jwks']);
    await other.close();
  });
});

describe('a token', () => {
  const claims = () => {
    const now = Math.floor(clock.now().getTime() / 1_000);
    return { iss: issuer, aud: 'cadastre', sub: 'job', iat: now, exp: now + 60 };
  };
  const verify = (token: string) => new SubjectTokenVerifier(createKeys(), clock).verify(token, issuer);
  const sign = (alg: string, key: CryptoKey, header: object = {}) =>
    new SignJWT(claims()).setProtectedHeader({ alg, ...header }).sign(key);

  it.each(['RS256', 'PS512', 'ES256', 'ES384', 'EdDSA'])('is verified with a key for %s', async (alg) => {
    const { privateKey, jwk } = await makeKey(alg, 'key');
    serve(configuration(), { keys: [jwk] });
    expect(await verify(await sign(alg, privateKey, { kid: 'key' }))).toMatchObject({ subject: 'job', issuer });
  });

  it('is verified although the set has keys of other kinds, and private members', async () => {
    const secret = { kty: 'oct', k: 'c2VjcmV0', kid: 'secret' };
    const unknown = { kty: 'AKP', alg: 'ML-DSA-44', kid: 'unknown' };
    const withPrivate = await exportJWK((await generateKeyPair('RS256', { extractable: true })).privateKey);
    serve(configuration(), { keys: [secret, unknown, 7, null, { ...withPrivate, kid: 'other' }, rsa.jwk] });
    expect(await verify(await sign('RS256', rsa.privateKey, { kid: 'rsa' }))).toMatchObject({ subject: 'job' });
    const symmetric = new SignJWT(claims()).setProtectedHeader({ alg: 'HS256', kid: 'secret' });
    expect((await refusalOf(verify(await symmetric.sign(Buffer.from('secret')))))?.error_description).toMatch(
      /^subject_token: its algorithm \(alg\) is not accepted/,
    );
  });

  it('without the id of its key is verified if only one key can have signed it', async () => {
    serve(configuration(), { keys: [rsa.jwk] });
    expect(await verify(await sign('RS256', rsa.privateKey))).toMatchObject({ subject: 'job' });
    serve(configuration(), { keys: [rsa.jwk, { ...rsa.jwk, kid: 'second' }] });
    expect(await refusalOf(verify(await sign('RS256', rsa.privateKey)))).toEqual({
      error: 'invalid_request',
      error_description: 'subject_token: it names no key (kid), and the issuer has several',
    });
  });

  it('is refused if its key is for encryption, is too short, or is malformed', async () => {
    for (const jwk of [
      { ...rsa.jwk, use: 'enc' },
      { kty: 'RSA', kid: 'rsa', n: 'AQAB', e: 'AQAB' },
      { kty: 'RSA', kid: 'rsa' },
    ]) {
      serve(configuration(), { keys: [jwk] });
      const refusal = await refusalOf(verify(await sign('RS256', rsa.privateKey, { kid: 'rsa' })));
      expect(refusal?.error).toBe('invalid_request');
    }
  });

  it('is refused if it demands that the server understands a header', async () => {
    serve(configuration(), { keys: [rsa.jwk] });
    const header = { kid: 'rsa', crit: ['exp'], exp: 1 };
    const token = await new SignJWT(claims())
      .setProtectedHeader({ alg: 'RS256', ...header })
      .sign(rsa.privateKey, { crit: { exp: true } });
    expect((await refusalOf(verify(token)))?.error).toBe('invalid_request');
  });
});
