import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { base64url, generateKeyPair, SignJWT } from 'jose';
import { EVENT_CONTEXT } from '#storage/event-store';
import { sql } from '#platform/kernel';
import { readTrail } from '../../../activity/audit-trail/spec.js';
import { logLength } from '../../../../test/support/event-log.js';
import { startIdentityProvider } from '../../../../test/support/identity-provider.js';
import {
  expectStatus,
  grantWorkspaceAccess,
  makeOrganization,
  makeOrganizationToken,
  makeWorkspace,
  resource,
} from '../../../../test/support/seeds.js';
import {
  EXCHANGE,
  exchangeToken,
  expectTokenRefusal,
  sendTokenRequest,
  startPipelines,
  WORKLOAD_SUBJECT,
  type PipelineWorld,
} from '../../../../test/support/workload-identities.js';

let world: PipelineWorld;
let workspace: string;

beforeAll(async () => {
  world = await startPipelines();
  workspace = await makeWorkspace(world.server, 'acme', 'hello');
  await grantWorkspaceAccess(world.server, world.team, workspace, 'write');
});

afterAll(() => world.close());

describe('the token of a pipeline', () => {
  it('is exchanged for a token that acts as the team', async () => {
    const identity = await world.makeIdentity({ 'token-minutes': 30 });
    const answer = expectStatus(await exchangeToken(world.server, identity, await world.sign()), 200);
    expect(answer.body).toEqual({
      access_token: expect.stringMatching(/^\w{14}\.atlasv1\.\w{60}$/),
      issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      token_type: 'Bearer',
      expires_in: 1_800,
    });
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const pipeline = world.server.as(answer.body.access_token as string);
    expectStatus(await pipeline.post(`/api/v2/workspaces/${workspace}/actions/lock`), 200);
    expectStatus(await pipeline.post(`/api/v2/workspaces/${workspace}/actions/unlock`), 200);
    expectStatus(await pipeline.get(`/api/v2/teams/${world.acme.ownersTeam}/authentication-tokens`), 404);
    expect(expectStatus(await pipeline.get('/api/v2/account/details'), 200).body.data.id).toBe(world.team);
  });

  it('is refused at an address that the IP allowlist of the organization does not contain', async () => {
    const { server } = world;
    const identity = await world.makeIdentity();
    const ranges = { 'cidr-ranges': { data: [{ type: 'cidr-ranges', attributes: { range: '203.0.113.0/24' } }] } };
    const list = resource('cidr-range-lists', { name: 'Offices', 'enforcement-scope': 'organization' }, ranges);
    const created = await server.post('/api/v2/organizations/acme/cidr-range-lists', list);
    const { self } = expectStatus(created, 201).body.data.links;
    const length = await logLength(server.store);
    expectTokenRefusal(
      await exchangeToken(server, identity, await world.sign()),
      'The IP allowlist of the organization does not contain the address of the pipeline, 127.0.0.1',
      { error: 'access_denied' },
    );
    expect(await logLength(server.store)).toBe(length);
    expectStatus(await server.delete(self), 204);
    await world.issue(identity);
  });

  it('is exchanged again until it expires, because a job can be tried again', async () => {
    const identity = await world.makeIdentity();
    const token = await world.sign();
    const first = expectStatus(await exchangeToken(world.server, identity, token), 200).body.access_token as string;
    const second = expectStatus(await exchangeToken(world.server, identity, token), 200).body.access_token as string;
    expect(second).not.toBe(first);
    for (const secret of [first, second])
      expectStatus(await world.server.as(secret).get('/api/v2/account/details'), 200);
  });

  it('is accepted as `jwt`, for one of several audiences, and if all claims match', async () => {
    const claims = { sub: ['repo:acme/*'], ref: ['refs/heads/main', 'refs/tags/v*'], environment: ['production'] };
    const identity = await world.makeIdentity({ audience: 'cadastre', claims });
    const token = await world.sign({ aud: ['other', 'cadastre'], ref: 'refs/tags/v1', environment: 'production' });
    const fields = {
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      client_id: 'ignored',
    };
    expectStatus(await exchangeToken(world.server, identity, token, fields), 200);
  });

  it('gets a token that lives no longer than the organization permits', async () => {
    const { ownersTeam } = await makeOrganization(world.server, 'strict');
    const policy = { 'token-ttl-policies': [{ 'token-type': 'team', 'max-ttl-ms': 600_000 }] };
    const policies = resource('organization-token-ttl-policies', policy);
    expectStatus(await world.server.patch('/api/v2/organizations/strict/token-ttl-policies', policies), 200);
    const identity = await world.makeIdentity({}, ownersTeam);
    const lifetime = async (): Promise<number> =>
      expectStatus(await exchangeToken(world.server, identity, await world.sign()), 200).body.expires_in as number;
    expect(await lifetime()).toBe(3_600);
    expectStatus(
      await world.server.patch('/api/v2/organizations/strict', resource('organizations', { 'max-ttl-enabled': true })),
      200,
    );
    expect(await lifetime()).toBe(600);
  });

  it('is recorded with its issuer and its subject, and not itself', async () => {
    const identity = await world.makeIdentity();
    const { name } = (await world.server.get(`/api/v2/workload-identities/${identity}`)).body.data.attributes;
    const token = await world.sign();
    const secret = expectStatus(await exchangeToken(world.server, identity, token), 200).body.access_token as string;
    const [issued] = (await world.server.get(`/api/v2/teams/${world.team}/authentication-tokens`)).body.data;
    expect(issued).toMatchObject({
      attributes: { description: `workload identity ${name}: ${WORKLOAD_SUBJECT}`, token: null },
      relationships: { 'created-by': { data: { type: 'workload-identities', id: identity } } },
    });
    const auditor = world.server.as(await makeOrganizationToken(world.server, 'acme'));
    const { data } = await readTrail(auditor, { 'filter[actor]': name as string });
    const auth = { accessor_id: identity, description: name, type: 'Client', organization_id: world.acme.id };
    expect(data.map(({ auth: by, resource: of, request }) => ({ by, of, address: request.address }))).toEqual([
      {
        by: expect.objectContaining(auth),
        of: {
          id: identity,
          type: 'workload_identity',
          action: 'issue_token',
          meta: { token: issued.id, issuer: world.provider.issuer, subject: WORKLOAD_SUBJECT },
        },
        address: '127.0.0.1',
      },
      {
        by: expect.objectContaining(auth),
        of: { id: issued.id, type: 'authentication_token', action: 'create', meta: null },
        address: '127.0.0.1',
      },
    ]);
    const log = await world.server.database.rows<{ text: string }>(
      sql`select e.data::text || (${EVENT_CONTEXT})::text as text from event_store.events e`,
    );
    for (const hidden of [token, secret]) expect(log.some(({ text }) => text.includes(hidden))).toBe(false);
  });

  it('with a long subject gives a token with a shorter description', async () => {
    const claims = { sub: ['repo:acme/*'] };
    const identity = await world.makeIdentity({ claims });
    // The description is cut in the middle of a surrogate pair.
    await world.issue(identity, { sub: `repo:acme/${'😀'.repeat(400)}` });
    const [issued] = (await world.server.get(`/api/v2/teams/${world.team}/authentication-tokens`)).body.data;
    expect(issued.attributes.description).toHaveLength(255);
  });
});

describe('the token of a pipeline is refused', () => {
  let identity: string;
  beforeAll(async () => {
    identity = await world.makeIdentity({ claims: { sub: ['repo:acme/app:*'], ref: ['refs/heads/main'] } });
  });

  const expectRefused = async (token: string, description: RegExp | string, of = identity): Promise<void> => {
    const before = await logLength(world.server.store);
    expectTokenRefusal(await exchangeToken(world.server, of, token), description);
    expect(await logLength(world.server.store)).toBe(before);
  };
  const main = { ref: 'refs/heads/main' };

  it('if its claims do not match, with the claims and their values', async () => {
    await expectRefused(
      await world.sign({ ref: 'refs/heads/dev' }),
      "subject_token: the workload identity does not accept ref 'refs/heads/dev'",
    );
    await expectRefused(await world.sign(), 'subject_token: the workload identity does not accept ref nothing');
    await expectRefused(
      await world.sign({ sub: 'repo:acme/app-evil:x', ref: { a: 1 } }),
      "subject_token: the workload identity does not accept ref {'a':1}, sub 'repo:acme/app-evil:x'",
    );
    expectStatus(await exchangeToken(world.server, identity, await world.sign(main)), 200);
  });

  it.each<[string, object, RegExp]>([
    [
      'with another audience',
      { aud: 'https://other.example' },
      /^subject_token: the workload identity does not accept the audience \(aud\) 'https:\/\/other\.example'$/,
    ],
    ['without an audience', { aud: undefined }, /the claim aud is missing/],
    ['without a subject', { sub: undefined }, /the claim sub is missing/],
    ['with a blank subject', { sub: '' }, /the subject \(sub\) must be a text/],
    ['with a subject that is no text', { sub: 7 }, /the claim sub is missing or not valid|must be a text/],
    ['with a long subject', { sub: `repo:acme/app:${'x'.repeat(1_000)}` }, /at most 1000 characters/],
    ['with a subject that cannot be stored', { sub: 'repo:acme/app:\0' }, /cannot be stored/],
    ['without an end', { exp: undefined }, /the claim exp is missing/],
    ['without a start', { iat: undefined }, /the claim iat is missing/],
    ['without an issuer', { iss: undefined }, /has no issuer/],
  ])('%s', async (_, claims, description) => {
    await expectRefused(await world.sign({ ...main, ...claims }), description);
  });

  it('after it has expired, and before it is valid, with a tolerance of a minute', async () => {
    const now = world.seconds();
    await expectRefused(await world.sign({ ...main, iat: now - 600, exp: now - 61 }), /has expired \(exp\)/);
    expectStatus(
      await exchangeToken(world.server, identity, await world.sign({ ...main, iat: now - 600, exp: now - 30 })),
      200,
    );
    await expectRefused(await world.sign({ ...main, nbf: now + 120 }), /is not valid yet \(nbf\)/);
    expectStatus(await exchangeToken(world.server, identity, await world.sign({ ...main, nbf: now + 30 })), 200);
    await expectRefused(await world.sign({ ...main, iat: now + 120 }), /issued in the future \(iat\)/);
    await expectRefused(await world.sign({ ...main, iat: now, exp: now + 86_401 }), /the token lives for 86401 s/);
  });

  it('if it is signed with another key, also under the id of a published one', async () => {
    await expectRefused(await world.sign(main, { key: 'unpublished' }), /publishes no key/);
    const { privateKey } = await generateKeyPair('RS256');
    const forged = await new SignJWT(world.jobClaims({ ...main, iss: world.provider.issuer }))
      .setProtectedHeader({ alg: 'RS256', kid: 'key-1' })
      .sign(privateKey);
    await expectRefused(forged, /its signature is not that of the issuer/);
  });

  it('if nobody has signed it, or everybody could have', async () => {
    const claims = world.jobClaims({ ...main, iss: world.provider.issuer });
    const encode = (value: object): string => base64url.encode(JSON.stringify(value));
    for (const alg of ['none', 'None', '']) {
      const unsigned = `${encode({ alg })}.${encode(claims)}.`;
      await expectRefused(unsigned, /its algorithm \(alg\) is not accepted|not a valid signed/);
    }
    const { keys } = (await (await fetch(`${world.provider.issuer}/jwks`)).json()) as { keys: [{ n: string }] };
    for (const secret of [JSON.stringify(keys[0]), keys[0].n]) {
      const symmetric = await new SignJWT(claims)
        .setProtectedHeader({ alg: 'HS256', kid: 'key-1' })
        .sign(new TextEncoder().encode(secret));
      await expectRefused(symmetric, /its algorithm \(alg\) is not accepted/);
    }
  });

  it.each([
    ['a.b.c', /is not a JSON Web Token/],
    ['text', /is not a JSON Web Token/],
    ['e30.e30.', /has no issuer/],
    [`e30.${base64url.encode('[]')}.`, /is not a JSON Web Token/],
    ['a.b.c.d.e', /is not a JSON Web Token/],
  ])('%s, which is no token', async (token, description) => {
    await expectRefused(token, description);
  });

  it('if the identity is unknown or disabled, or names another issuer', async () => {
    const token = await world.sign(main);
    const other = await world.makeIdentity({ issuer: 'https://token.actions.githubusercontent.com' });
    const disabled = await world.makeIdentity({ enabled: false });
    const requests = world.provider.requests.length;
    for (const id of ['wid-xxxxxxxxxxxxxxxx', other, disabled, world.team, 'delivery']) {
      expectTokenRefusal(
        await exchangeToken(world.server, id, token),
        `audience: no enabled workload identity with the id ${id} accepts tokens of the issuer ${world.provider.issuer}`,
        { error: 'invalid_target' },
      );
    }
    expect(world.provider.requests).toHaveLength(requests);
  });

  it('if its issuer is unknown, which is never contacted', async () => {
    const unknown = await startIdentityProvider();
    const token = await unknown.signToken(world.jobClaims({ ...main, iss: unknown.issuer }));
    expectTokenRefusal(await exchangeToken(world.server, identity, token), /accepts tokens of the issuer http/, {
      error: 'invalid_target',
    });
    // The token of the unknown issuer does not become valid with the name of the known one.
    const renamed = await unknown.signToken(world.jobClaims({ ...main, iss: world.provider.issuer }));
    await expectRefused(renamed, /its signature is not that of the issuer/);
    expect(unknown.requests).toEqual([]);
    await unknown.close();
  });
});

describe('a request for a token', () => {
  it.each([
    [{}, 'invalid_request', /^grant_type: must be/],
    [{ ...EXCHANGE, grant_type: 'client_credentials' }, 'unsupported_grant_type', /^grant_type: must be/],
    [{ ...EXCHANGE, subject_token: 'x' }, 'invalid_request', /^audience: must be the id/],
    [{ ...EXCHANGE, audience: 'x', subject_token: 'x', scope: 'y' }, 'invalid_scope', /^scope: is not supported/],
    [{ ...EXCHANGE, audience: 'x', subject_token: 'x', resource: 'y' }, 'invalid_target', /^resource: is not/],
  ])('%j is refused: %s', async (fields, error, description) => {
    expectTokenRefusal(await sendTokenRequest(world.server, fields as Record<string, string>), description, { error });
  });

  it('is no JSON', async () => {
    expectStatus(await world.server.as(null).post('/oauth/token', EXCHANGE), 415);
  });
});
