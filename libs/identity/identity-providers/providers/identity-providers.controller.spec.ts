import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { readWholeLog } from '../../../../test/support/event-log.js';
import { startIdentityProvider, type TestIdentityProvider } from '../../../../test/support/identity-provider.js';
import { addIdentityProvider, CLIENT_SECRET } from '../../../../test/support/identity-providers.js';
import { expectStatus, makeOrganization, makeMember, makeToken, resource } from '../../../../test/support/seeds.js';
import { startTestServer, type ApiResponse, type TestServer } from '../../../../test/support/server.js';
import { expectViewsMatchLog } from '../../../../test/support/views-match-log.js';
import { identityProvidersDefinition } from '../identity-providers.module.js';
import { MAX_PROVIDERS } from './identity-providers.handler.js';

const PATH = '/api/v2/admin/identity-providers';

let server: TestServer;
let provider: TestIdentityProvider;

beforeAll(async () => {
  [server, provider] = await Promise.all([startTestServer(), startIdentityProvider()]);
});

afterAll(async () => {
  await provider.close();
  await server.close();
});

const disabled = { issuer: 'https://id.example.com', 'client-id': 'cadastre', enabled: false } as const;
const create = (attributes: object) => server.post(PATH, resource('identity-providers', attributes));
const update = (id: string, attributes: object) =>
  server.patch(`${PATH}/${id}`, resource('identity-providers', attributes));
const makeDisabled = async (name: string): Promise<string> =>
  expectStatus(await create({ ...disabled, name }), 201).body.data.id as string;
const errorsOf = ({ status, body }: ApiResponse) => [
  status,
  body.errors.map((error: { detail: string; source?: { pointer: string } }) => [error.source?.pointer, error.detail]),
];
const refusal = (attribute: string, detail: unknown) => [422, [[`/data/attributes/${attribute}`, detail]]];

describe('an identity provider', () => {
  it('is created after a check of the provider, and shown without its secret', async () => {
    const id = await addIdentityProvider(server, provider, {
      'allowed-domains': ['Example.com'],
      'creates-users': true,
    });
    const { body } = expectStatus(await server.get(`${PATH}/${id}`), 200);
    const { publicUrl } = server.runtime.settings;
    expect(body.data).toEqual({
      id,
      type: 'identity-providers',
      attributes: {
        name: 'Acme',
        issuer: provider.issuer,
        'client-id': 'cadastre',
        'has-client-secret': true,
        scopes: ['openid', 'profile', 'email', 'groups'],
        enabled: true,
        'creates-users': true,
        'allowed-domains': ['example.com'],
        'allowed-groups': [],
        'groups-claim': 'groups',
        certificates: [],
        'metadata-url': null,
        protocol: 'oidc',
        'proves-emails': false,
        'service-certificate': null,
        'sign-in-url': null,
        'sign-out-url': null,
        'username-claim': 'preferred_username',
        'external-id-claim': null,
        'maps-groups': true,
        'proves-two-factor': false,
        'mapped-groups': [],
        'created-at': expect.any(String),
        source: 'api',
        'callback-url': expect.stringMatching(/^http:.*\/sign-in\/oidc\/idp-\w+\/callback$/),
        'back-channel-logout-url': `${publicUrl}/oauth/back-channel-logout/${id}`,
      },
      links: { self: `${PATH}/${id}` },
    });
    expect(provider.requests).toContain('/.well-known/openid-configuration');
    expectStatus(await server.delete(`${PATH}/${id}`), 204);
  });

  it.each([
    [
      'another issuer',
      () => `${provider.issuer}/`,
      'Issuer cannot be used: the provider calls itself "http://localhost:',
    ],
    ['no discovery document', () => `${provider.issuer}/none`, 'has no discovery document there'],
    ['nothing that listens', () => 'http://localhost:1', 'Issuer cannot be used: localhost could not be reached'],
  ])('is refused with %s', async (_, issuer, detail) => {
    const before = (await readWholeLog(server.store)).length;
    const response = await create({ ...disabled, name: 'Refused', issuer: issuer(), enabled: true });
    expect(errorsOf(response)).toEqual(refusal('issuer', expect.stringContaining(detail)));
    expect(await readWholeLog(server.store)).toHaveLength(before);
  });

  it('is refused while the provider is away, unless it is not enabled', async () => {
    provider.setAway(true);
    const attributes = { ...disabled, name: 'Away', issuer: provider.issuer };
    expect(errorsOf(await create({ ...attributes, enabled: true }))).toEqual(
      refusal('issuer', expect.stringContaining('answered with 503')),
    );
    const id = expectStatus(await create(attributes), 201).body.data.id as string;
    expect(errorsOf(await update(id, { enabled: true }))).toEqual(refusal('issuer', expect.stringContaining('503')));
    expectStatus(await update(id, { name: 'Renamed' }), 200);
    provider.setAway(false);
    expectStatus(await update(id, { enabled: true }), 200);
    provider.setAway(true);
    expectStatus(await update(id, { name: 'Away' }), 200);
    provider.setAway(false);
    expectStatus(await server.delete(`${PATH}/${id}`), 204);
  });

  it('is refused with every problem of its settings, before any request to the provider', async () => {
    const requests = provider.requests.length;
    const response = await create({
      name: 'Wrong',
      issuer: `${provider.issuer}?tenant=1`,
      'client-id': 'cadastre',
      scopes: ['email'],
      'allowed-domains': ['@example.com'],
    });
    expect(errorsOf(response)[1]).toEqual([
      ['/data/attributes/issuer', expect.stringContaining('must be https://')],
      ['/data/attributes/scopes', 'Scopes must include openid'],
      ['/data/attributes/allowed-domains', expect.stringContaining('got "@example.com"')],
    ]);
    expect(provider.requests).toHaveLength(requests);
  });

  it.each([
    ['name', 'x'.repeat(91)],
    ['issuer', `https://${'x'.repeat(500)}`],
    ['client-id', 'x'.repeat(256)],
    ['client-secret', 'x'.repeat(1_001)],
    ['client-secret', ''],
    ['scopes', Array.from({ length: 21 }, (_, n) => `scope-${n}`)],
    ['allowed-domains', Array.from({ length: 101 }, (_, n) => `d${n}.example`)],
    ['allowed-groups', ['x'.repeat(256)]],
    ['mapped-groups', ['x'.repeat(256)]],
    ['mapped-groups', Array.from({ length: 101 }, (_, n) => `group-${n}`)],
    ['groups-claim', 'x'.repeat(256)],
    ['username-claim', ''],
    ['external-id-claim', 'x'.repeat(256)],
  ])('refuses a %s beyond the limits', async (attribute, value) => {
    const response = await create({ ...disabled, name: 'Limits', [attribute]: value });
    expect(response.status).toBe(422);
    expect(response.body.errors[0].source.pointer).toContain(`/data/attributes/${attribute}`);
  });

  it('has a name of its own', async () => {
    const id = await makeDisabled('Unique');
    const takenName = refusal('name', 'Name has already been taken');
    expect(errorsOf(await create({ ...disabled, name: 'UNIQUE' }))).toEqual(takenName);
    const other = await makeDisabled('Other');
    expect(errorsOf(await update(other, { name: 'unique' }))).toEqual(takenName);
    for (const one of [id, other]) expectStatus(await server.delete(`${PATH}/${one}`), 204);
  });

  it('is one of at most 20, also if requests come at the same time', async () => {
    const names = Array.from({ length: MAX_PROVIDERS + 3 }, (_, n) => `Provider ${n}`);
    const responses = await Promise.all(names.map((name) => create({ ...disabled, name })));
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(MAX_PROVIDERS);
    expect(responses.find(({ status }) => status === 422)?.text).toContain('The site has 20 identity providers');
    const { body } = expectStatus(await server.get(`${PATH}?page%5Bsize%5D=5&page%5Bnumber%5D=2`), 200);
    expect(body.data).toHaveLength(5);
    expect(body.meta.pagination).toMatchObject({ 'total-count': MAX_PROVIDERS, 'total-pages': 4 });
    for (const { body: created, status } of responses) {
      if (status === 201) expectStatus(await server.delete(`${PATH}/${created.data.id}`), 204);
    }
  });

  it('is unknown to everybody but site administrators', async () => {
    const id = await makeDisabled('Hidden');
    await makeOrganization(server, 'acme');
    const owner = await makeMember(server, 'acme', 'owner', []);
    const api = server.as(await makeToken(server, `/api/v2/users/${owner.id}/authentication-tokens`));
    const responses = [
      await api.get(PATH),
      await api.post(PATH, resource('identity-providers', { ...disabled, name: 'Mine' })),
      await api.get(`${PATH}/${id}`),
      await api.patch(`${PATH}/${id}`, resource('identity-providers', { name: 'Mine' })),
      await api.delete(`${PATH}/${id}`),
    ];
    expect(responses.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404]);
    expectStatus(await server.delete(`${PATH}/${id}`), 204);
  });
});

describe('the provider of the settings', () => {
  const CADASTRE_OIDC_CLIENT_SECRET = CLIENT_SECRET;
  let other: TestServer;

  beforeAll(async () => {
    other = await startTestServer({
      env: {
        CADASTRE_OIDC_ISSUER: 'https://id.example.com',
        CADASTRE_OIDC_CLIENT_ID: 'cadastre',
        CADASTRE_OIDC_CLIENT_SECRET,
        CADASTRE_OIDC_NAME: 'Of the settings',
      },
    });
  });

  afterAll(() => other.close());

  it('is listed first and shown, without its secret', async () => {
    expectStatus(await other.post(PATH, resource('identity-providers', { ...disabled, name: 'Added' })), 201);
    const list = expectStatus(await other.get(PATH), 200);
    expect(list.body.data.map(({ id }: { id: string }) => id)).toEqual([
      'idp-settings',
      expect.stringMatching(/^idp-/),
    ]);
    const document = expectStatus(await other.get(`${PATH}/idp-settings`), 200);
    expect(document.body.data).toEqual(list.body.data[0]);
    expect(document.body.data.attributes).toMatchObject({
      name: 'Of the settings',
      'has-client-secret': true,
      'created-at': null,
      source: 'settings',
    });
    for (const { text } of [list, document]) expect(text).not.toContain(CLIENT_SECRET);
  });

  it('is changed by nobody', async () => {
    const responses = [
      await other.patch(`${PATH}/idp-settings`, resource('identity-providers', { name: 'Renamed' })),
      await other.delete(`${PATH}/idp-settings`),
    ];
    for (const { status, text } of responses)
      expect([status, text]).toEqual([422, expect.stringContaining('comes from the settings CADASTRE_OIDC_*')]);
    expect((await server.delete(`${PATH}/idp-settings`)).status).toBe(404);
  });

  it('keeps its name for itself', async () => {
    const response = await other.post(PATH, resource('identity-providers', { ...disabled, name: 'OF THE SETTINGS' }));
    expect(errorsOf(response)).toEqual(refusal('name', 'Name has already been taken'));
  });
});

describe('the secret of a client', () => {
  const readSecret = async (id: string) => server.database.row(sql`select 1 from vault.secrets where id = ${id}`);

  it('is replaced, removed and deleted, and never in the log or in a response', async () => {
    const created = expectStatus(await create({ ...disabled, name: 'Secretive', 'client-secret': CLIENT_SECRET }), 201);
    const id = created.body.data.id as string;
    const replaced = expectStatus(await update(id, { 'client-secret': `${CLIENT_SECRET}-2` }), 200);
    expect(await readSecret(id)).toBeDefined();
    const removed = expectStatus(await update(id, { 'client-secret': null }), 200);
    expect(removed.body.data.attributes['has-client-secret']).toBe(false);
    expect(await readSecret(id)).toBeUndefined();
    expectStatus(await update(id, { 'client-secret': CLIENT_SECRET }), 200);
    expectStatus(await server.delete(`${PATH}/${id}`), 204);
    expect(await readSecret(id)).toBeUndefined();
    const events = (await readWholeLog(server.store)).filter(({ stream }) => stream === id);
    expect(events.map(({ type, data }) => [type, (data as { secretReplaced?: boolean }).secretReplaced])).toEqual([
      ['IdentityProviderCreated', undefined],
      ['IdentityProviderUpdated', true],
      ['IdentityProviderUpdated', false],
      ['IdentityProviderUpdated', true],
      ['IdentityProviderDeleted', undefined],
    ]);
    for (const text of [created.text, replaced.text, JSON.stringify(events)]) expect(text).not.toContain(CLIENT_SECRET);
  });
});

describe('the view of identity providers', () => {
  it('matches the log', async () => {
    const id = await makeDisabled('Viewed');
    expectStatus(await update(id, { 'maps-groups': false }), 200);
    await expectViewsMatchLog(server, [identityProvidersDefinition]);
  });
});
