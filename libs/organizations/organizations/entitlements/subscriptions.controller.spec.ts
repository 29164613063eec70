import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  expectStatus,
  makeOrganization,
  makeOrganizationToken,
  makeToken,
  resource,
} from '../../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';

let server: TestServer;
let ownersTeam: string;
let id: string;

beforeAll(async () => {
  server = await startTestServer();
  ({ id, ownersTeam } = await makeOrganization(server, 'acme'));
});

afterAll(() => server.close());

const SUBSCRIPTION = '/api/v2/admin/organizations/acme/subscription';

const to = (featureSet: string) =>
  resource('subscriptions', {}, { 'feature-set': { data: { type: 'feature-sets', id: featureSet } } });

const auditLogging = async (): Promise<boolean> =>
  (await server.get('/api/v2/organizations/acme/entitlement-set')).body.data.attributes['audit-logging'] as boolean;

describe('the feature set of an organization', () => {
  it('is "everything" by default, and defines the entitlements', async () => {
    const { body } = expectStatus(await server.get('/api/v2/organizations/acme/entitlement-set'), 200);
    expect(body.data).toMatchObject({
      id,
      type: 'entitlement-sets',
      // No pool executes remote runs, so clients run locally.
      attributes: { operations: false, 'state-storage': true, teams: true, 'audit-logging': true, 'user-limit': null },
    });
    const flags = Object.entries(body.data.attributes).filter(([, value]) => value === true);
    expect(flags.map(([name]) => name).toSorted()).toEqual(['agents', 'audit-logging', 'state-storage', 'teams']);
    const included = expectStatus(await server.get('/api/v2/organizations/acme?include=entitlement-set'), 200).body;
    expect(included.included).toEqual([body.data]);
    expect(included.data.relationships['entitlement-set'].data).toEqual({ type: 'entitlement-sets', id });
  });

  it('is changed by a site administrator, with immediate effect', async () => {
    const { body } = expectStatus(await server.post(SUBSCRIPTION, to('fs-free')), 200);
    expect(body).toMatchObject({
      data: {
        type: 'subscriptions',
        relationships: {
          organization: { data: { type: 'organizations', id: 'acme' } },
          'feature-set': { data: { type: 'feature-sets', id: 'fs-free' } },
        },
      },
      included: [
        {
          id: 'fs-free',
          type: 'feature-sets',
          attributes: { name: 'Free', identifier: 'free', 'is-free-tier': true, 'audit-logging': false },
        },
      ],
    });
    expect(await auditLogging()).toBe(false);
    expect(expectStatus(await server.get('/api/v2/organizations/acme/subscription'), 200).body).toEqual(body);
    const organization = expectStatus(await server.get('/api/v2/organizations/acme?include=subscription'), 200).body;
    expect(organization.included).toEqual([body.data]);
    const attributes = { 'runs-ceiling': 10, 'contract-start-at': '2026-11-21T12:00:00Z' };
    const singular = resource('subscription', attributes, {
      'feature-set': { data: { type: 'feature-sets', id: 'fs-everything' } },
    });
    expectStatus(await server.post(SUBSCRIPTION, singular), 200);
    expect(await auditLogging()).toBe(true);
  });

  it.each([
    ['an unknown feature set', to('fs-golden'), '/data/relationships/feature-set'],
    ['no feature set', resource('subscriptions'), '/data/relationships'],
    [
      'a resource of another type',
      resource('feature-sets', {}, { 'feature-set': { data: { id: 'fs-free' } } }),
      '/data/type',
    ],
  ])('is not changed to %s', async (_, body, pointer) => {
    const answer = expectStatus(await server.post(SUBSCRIPTION, body), 422);
    expect(answer.body.errors[0].source.pointer).toBe(pointer);
    expect(await auditLogging()).toBe(true);
  });

  it('returns 404 for an unknown organization', async () => {
    expect((await server.post('/api/v2/admin/organizations/nobody/subscription', to('fs-free'))).status).toBe(404);
  });

  it('is not changed by the organization’s owners or its token', async () => {
    const owners = server.as(await makeToken(server, `/api/v2/teams/${ownersTeam}/authentication-token`));
    const token = server.as(await makeOrganizationToken(server, 'acme'));
    for (const caller of [owners, token]) {
      expectStatus(await caller.post(SUBSCRIPTION, to('fs-free')), 404);
      expectStatus(await caller.get('/api/v2/admin/feature-sets'), 404);
      expectStatus(await caller.get('/api/v2/organizations/acme/subscription'), 200);
    }
    expect(await auditLogging()).toBe(true);
  });

  it.each(['admin', 'organizations/acme', ''])('is listed at /%s, with search and paging', async (prefix) => {
    const path = ['/api/v2', prefix, 'feature-sets'].filter((segment) => segment !== '').join('/');
    const list = async (query: string) => expectStatus(await server.get(`${path}?${query}`), 200).body;
    const idsOf = (body: { data: { id: string }[] }) => body.data.map((one) => one.id);
    expect(idsOf(await list(''))).toEqual(['fs-everything', 'fs-free']);
    expect(idsOf(await list('q=FREE'))).toEqual(['fs-free']);
    expect(idsOf(await list('q=Every'))).toEqual(['fs-everything']);
    expect(idsOf(await list('q=golden'))).toEqual([]);
    const second = await list('page[size]=1&page[number]=2');
    expect(idsOf(second)).toEqual(['fs-free']);
    expect(second.meta.pagination).toMatchObject({ 'total-count': 2, 'total-pages': 2 });
  });

  it('is listed for owners in their own organization only', async () => {
    const owners = server.as(await makeToken(server, `/api/v2/teams/${ownersTeam}/authentication-token`));
    await makeOrganization(server, 'foreign');
    expectStatus(await owners.get('/api/v2/feature-sets'), 200);
    expectStatus(await owners.get('/api/v2/organizations/acme/feature-sets'), 200);
    expect((await owners.get('/api/v2/organizations/foreign/feature-sets')).status).toBe(404);
  });
});

describe('a site with another initial feature set', () => {
  it('gives this feature set to new organizations', async () => {
    const frugal = await startTestServer({ env: { CADASTRE_FEATURE_SET: 'free' } });
    try {
      await makeOrganization(frugal, 'acme');
      const { body } = await frugal.get('/api/v2/organizations/acme/entitlement-set');
      expect(body.data.attributes['audit-logging']).toBe(false);
    } finally {
      await frugal.close();
    }
  });
});
