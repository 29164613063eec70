import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify, type JSONWebKeySet } from 'jose';
import { sql } from '#platform/kernel';
import { FixedClock } from '../../../test/support/clocks.js';
import { expectStatus } from '../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../test/support/server.js';
import { IdentityTokens } from './index.js';

const clock = new FixedClock();
let server: TestServer;
let tokens: IdentityTokens;

beforeAll(async () => {
  server = await startTestServer({ clock, followers: true });
  tokens = server.resolve(IdentityTokens);
});

afterAll(() => server.close());

const ADMIN = '/api/v2/admin/oidc-settings/actions';
const CLAIMS = { sub: 'organization:acme:project:Default Project:workspace:shop:run_phase:plan' };

const readKeys = async (): Promise<JSONWebKeySet> =>
  expectStatus(await server.get('/.well-known/jwks'), 200).body as JSONWebKeySet;
const verify = async (token: string, audience = 'aws.workload.identity') =>
  jwtVerify(token, createLocalJWKSet(await readKeys()), {
    issuer: server.runtime.settings.publicUrl,
    audience,
    currentDate: clock.now(),
  });

describe('the issuer', () => {
  it('creates one first key, also for many that request it at once', async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => readKeys()));
    expect(new Set(answers.map(({ keys }) => keys.map(({ kid }) => kid).join())).size).toBe(1);
    expect(answers[0]?.keys).toEqual([
      { kty: 'RSA', kid: expect.any(String), use: 'sig', alg: 'RS256', n: expect.any(String), e: 'AQAB' },
    ]);
  });

  it('describes itself', async () => {
    const { headers, body } = expectStatus(await server.get('/.well-known/openid-configuration'), 200);
    const issuer = server.runtime.settings.publicUrl;
    expect(headers.get('content-type')).toMatch(/^application\/json/);
    expect(body).toMatchObject({ issuer, jwks_uri: `${issuer}/.well-known/jwks` });
  });

  it('signs tokens that others can verify with the published keys, for one audience and a time', async () => {
    const token = await tokens.sign(CLAIMS, 'aws.workload.identity', 7_200);
    const { payload } = await verify(token);
    const now = Math.floor(clock.now().getTime() / 1000);
    expect(payload).toEqual({
      ...CLAIMS,
      iss: server.runtime.settings.publicUrl,
      aud: 'aws.workload.identity',
      jti: expect.any(String),
      iat: now,
      nbf: now,
      exp: now + 7_200,
    });
    await expect(verify(token, 'vault.workload.identity')).rejects.toThrow('unexpected "aud" claim value');
    clock.pass({ minutes: 121 });
    await expect(verify(token)).rejects.toThrow('"exp" claim timestamp check failed');
  });

  it('signs with a new key after a rotation, and publishes the earlier one until it is trimmed', async () => {
    const before = await tokens.sign(CLAIMS, 'aws.workload.identity', 60);
    expectStatus(await server.post(`${ADMIN}/rotate-key`), 204);
    const after = await tokens.sign(CLAIMS, 'aws.workload.identity', 60);
    expect(decodeProtectedHeader(after).kid).not.toBe(decodeProtectedHeader(before).kid);
    await verify(before);
    await verify(after);
    const countSecrets = async () =>
      (await server.database.rows(sql`select 1 from vault.secrets where id like 'oidckey-%'`)).length;
    expect(await countSecrets()).toBe(2);
    expectStatus(await server.post(`${ADMIN}/trim-key`), 204);
    await expect(verify(before)).rejects.toThrow('no applicable key found');
    await verify(after);
    expect(await countSecrets()).toBe(1);
    expectStatus(await server.post(`${ADMIN}/trim-key`), 204);
    expect((await readKeys()).keys).toHaveLength(1);
  });
});
