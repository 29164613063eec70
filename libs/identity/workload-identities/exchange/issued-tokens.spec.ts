import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startIdentityProvider } from '../../../../test/support/identity-provider.js';
import { runBetween } from '../../../../test/support/interleaving.js';
import { expectStatus, makeOrganization, makeTeam, resource } from '../../../../test/support/seeds.js';
import { startTestServer } from '../../../../test/support/server.js';
import { expectViewsMatchLog } from '../../../../test/support/views-match-log.js';
import {
  exchangeToken,
  expectTokenRefusal,
  makeWorkloadIdentity,
  startPipelines,
  type PipelineWorld,
} from '../../../../test/support/workload-identities.js';
import { workloadIdentitiesDefinition } from '../index.js';

let world: PipelineWorld;

beforeAll(async () => {
  world = await startPipelines();
});

afterAll(() => world.close());

describe('tokens that an identity has issued', () => {
  const works = async (secret: string): Promise<number> =>
    (await world.server.as(secret).get('/api/v2/account/details')).status;

  it('end after their lifetime', async () => {
    const secret = await world.issue(await world.makeIdentity({ 'token-minutes': 1 }));
    expect(await works(secret)).toBe(200);
    world.clock.pass({ minutes: 1 });
    expect(await works(secret)).toBe(401);
  });

  it('end when the identity is disabled or deleted, and no others', async () => {
    const [disabled, deleted, other] = [
      await world.makeIdentity(),
      await world.makeIdentity(),
      await world.makeIdentity(),
    ];
    const secrets = [await world.issue(disabled), await world.issue(deleted), await world.issue(other)];
    const path = (id: string): string => `/api/v2/workload-identities/${id}`;
    const update = (attributes: object) =>
      world.server.patch(path(disabled), resource('workload-identities', attributes));
    expectStatus(await update({ description: 'changed' }), 200);
    expect(await Promise.all(secrets.map(works))).toEqual([200, 200, 200]);
    expectStatus(await update({ enabled: false }), 200);
    expectStatus(await world.server.delete(path(deleted)), 204);
    expect(await Promise.all(secrets.map(works))).toEqual([401, 401, 200]);
    expectTokenRefusal(
      await exchangeToken(world.server, disabled, await world.sign()),
      /no enabled workload identity/,
      {
        error: 'invalid_target',
      },
    );
    expectStatus(await update({ enabled: true }), 200);
    expect(await works(await world.issue(disabled))).toBe(200);
  });

  it('end with the team, which issues no more', async () => {
    const ended = await makeTeam(world.server, 'acme', 'ended');
    const identity = await world.makeIdentity({}, ended);
    const secret = await world.issue(identity);
    expectStatus(await world.server.delete(`/api/v2/teams/${ended}`), 204);
    expect(await works(secret)).toBe(401);
    expectTokenRefusal(
      await exchangeToken(world.server, identity, await world.sign()),
      /no enabled workload identity/,
      {
        error: 'invalid_target',
      },
    );
  });

  it('are not issued if the identity is changed or deleted at the same time', async () => {
    const changed = await world.makeIdentity();
    const path = `/api/v2/workload-identities/${changed}`;
    const claims = { sub: ['repo:acme/other'] };
    runBetween(world.server.store, () => world.server.patch(path, resource('workload-identities', { claims })));
    expectTokenRefusal(await exchangeToken(world.server, changed, await world.sign()), /does not accept sub/);
    const ending = await world.makeIdentity();
    const deleted = () => world.server.delete(`/api/v2/workload-identities/${ending}`);
    runBetween(world.server.store, deleted);
    expectTokenRefusal(await exchangeToken(world.server, ending, await world.sign()), /no enabled workload identity/, {
      error: 'invalid_target',
    });
  });

  it('all end if the identity is deleted while it issues one', async () => {
    const identity = await world.makeIdentity();
    const first = await world.issue(identity);
    let second = '';
    runBetween(world.server.store, async () => {
      second = await world.issue(identity);
    });
    expectStatus(await world.server.delete(`/api/v2/workload-identities/${identity}`), 204);
    expect([await works(first), await works(second)]).toEqual([401, 401]);
  });
});

describe('the keys of an issuer', () => {
  it('are read once for many exchanges, and again after ten minutes', async () => {
    const identity = await world.makeIdentity();
    await world.issue(identity);
    const before = world.provider.requests.length;
    await Promise.all(Array.from({ length: 10 }, () => world.issue(identity)));
    expect(world.provider.requests).toHaveLength(before);
    world.clock.pass({ minutes: 11 });
    await Promise.all(Array.from({ length: 10 }, () => world.issue(identity)));
    expect(world.provider.requests.slice(before)).toEqual(['/.well-known/openid-configuration', '/jwks']);
  });

  it('are read again for an unknown key, at most twice a minute', async () => {
    const identity = await world.makeIdentity();
    await world.issue(identity);
    world.clock.pass({ seconds: 31 });
    const old = await world.sign();
    await world.provider.rotateKeys();
    const before = world.provider.requests.length;
    await world.issue(identity);
    expect(world.provider.requests).toHaveLength(before + 2);
    expectTokenRefusal(await exchangeToken(world.server, identity, old), /publishes no key/);
    expectTokenRefusal(
      await exchangeToken(world.server, identity, await world.sign({}, { key: 'unpublished' })),
      /publishes no key/,
    );
    expect(world.provider.requests).toHaveLength(before + 2);
  });
});

describe('an issuer', () => {
  it('that is away gives an error that says so, and works again when it is back', async () => {
    const identity = await world.makeIdentity();
    const away = await startIdentityProvider();
    const other = await world.makeIdentity({ issuer: away.issuer });
    const token = await away.signToken(world.jobClaims({ iss: away.issuer }));
    away.setAway(true);
    const answer = await exchangeToken(world.server, other, token);
    expectTokenRefusal(answer, `The keys of the issuer ${away.issuer} cannot be read: it responds with status 503`, {
      status: 503,
      error: 'temporarily_unavailable',
    });
    expect(answer.headers.get('retry-after')).toBe('10');
    expectStatus(await exchangeToken(world.server, identity, await world.sign()), 200);
    away.setAway(false);
    world.clock.pass({ seconds: 10 });
    expectStatus(await exchangeToken(world.server, other, token), 200);
    await away.close();
  });

  it('with a private address is not contacted unless the setting permits it', async () => {
    const issuer = world.provider.issuer.replace('localhost', '127.0.0.1');
    const identity = await world.makeIdentity({ issuer });
    const before = world.provider.requests.length;
    expectTokenRefusal(
      await exchangeToken(world.server, identity, await world.sign({ iss: issuer })),
      `The keys of the issuer ${issuer} cannot be read: 127.0.0.1 has a private address, which CADASTRE_OUTBOUND_PRIVATE_HOSTS does not permit`,
    );
    expect(world.provider.requests).toHaveLength(before);
  });
});

describe('the limit of failed exchanges', () => {
  it('counts the failures of an address, and nothing else', async () => {
    const limited = await startTestServer({
      clock: world.clock,
      env: { CADASTRE_OUTBOUND_PRIVATE_HOSTS: 'localhost', CADASTRE_WRONG_TOKEN_LIMIT: '3' },
    });
    const { ownersTeam } = await makeOrganization(limited, 'acme');
    const identity = await makeWorkloadIdentity(limited, ownersTeam, 'main', { issuer: world.provider.issuer });
    const good = await world.provider.signToken(world.jobClaims({ aud: limited.runtime.settings.publicUrl }));
    for (let n = 0; n < 5; n += 1) expectStatus(await exchangeToken(limited, identity, good), 200);
    for (let n = 0; n < 3; n += 1) expectStatus(await exchangeToken(limited, identity, 'a.b.c'), 400);
    const refused = await exchangeToken(limited, identity, good);
    expectTokenRefusal(refused, /^Too many failed exchanges from this address: at most 3 per minute/, {
      status: 429,
      error: 'temporarily_unavailable',
    });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    // Tokens of others at the address still work.
    expectStatus(await limited.get('/api/v2/account/details'), 200);
    world.clock.pass({ minutes: 1 });
    expectStatus(await exchangeToken(limited, identity, await world.provider.signToken(world.jobClaims())), 200);
    await limited.close();
  });
});

describe('the views', () => {
  it('match the log', async () => {
    await expectViewsMatchLog(world.server, [workloadIdentitiesDefinition]);
  });
});
