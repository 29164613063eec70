import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { createSystemContext } from '#api/access';
import { newStream, decideWrite } from '#storage/event-store';
import { runJobOnce } from '../../../../test/support/scheduled-jobs.js';
import { runBetween } from '../../../../test/support/interleaving.js';
import {
  addKey,
  DARWIN,
  LINUX,
  makeProvider,
  makeVersion,
  NO_KEY,
  pathOfProvider,
  pathOfProviders,
  pathOfVersion,
  pathOfVersions,
  platformAttributes,
  platformBody,
  providerBody,
  publishVersion,
  settleNeighbours,
  versionBody,
  matchRefusalText,
} from '../../../../test/support/registry.js';
import { makeSigner, type Signer } from '../../../../test/support/releases.js';
import {
  expectStatus,
  makeMember,
  makeOrganization,
  makeOrganizationToken,
  makeTeam,
  makeToken,
  refusalOf,
  resource,
  tagBindings,
} from '../../../../test/support/seeds.js';
import { fromTheFullHour } from '../../../../test/support/clocks.js';
import { waitForFollowers } from '../../../../test/support/event-log.js';
import { listNames } from '../../../../test/support/responses.js';
import {
  startTestServer,
  type ApiResponse,
  type ApiTestClient,
  type TestServer,
} from '../../../../test/support/server.js';
import { expectViewsMatchLog } from '../../../../test/support/views-match-log.js';
import { createDeletedProvidersJob, registryDefinition } from '../index.js';
import { registryProviderVersion } from '../versions/registry-provider-version.js';
import { VERSIONS_PER_DELETION } from './registry-providers.queries.js';

const PATH = pathOfProviders('acme');
/** Number of versions of the largest provider that a test deletes. */
const MANY = 5_000;

let server: TestServer;
let signer: Signer;
let member: ApiTestClient;
let stranger: ApiTestClient;

beforeAll(async () => {
  server = await startTestServer({
    followers: true,
    clock: fromTheFullHour(),
    env: { CADASTRE_RECOVERABLE_DAYS: '0' },
  });
  signer = await makeSigner();
  ({ member, stranger } = await settleNeighbours(server));
  expectStatus(await addKey(server, 'acme', signer), 201);
});

afterAll(() => server.close());

/** Appends the versions as a command would, 250 in each append. */
const seedVersions = async (organization: string, provider: string, versions: readonly string[]): Promise<void> => {
  const writes = versions.map((version, n) => {
    const data = { provider, name: 'large', version, keyId: NO_KEY, protocols: null, siblings: 0 };
    const loaded = newStream(`provver-seeded${n}`, registryProviderVersion);
    return decideWrite(registryProviderVersion, loaded, organization, { type: 'CreateVersion', data });
  });
  for (let n = 0; n < writes.length; n += 250) {
    await server.store.append(writes.slice(n, n + 250), createSystemContext('a test', ''));
  }
};

const create = (attributes: object, organization = 'acme', api: ApiTestClient = server): Promise<ApiResponse> =>
  api.post(
    pathOfProviders(organization),
    resource('registry-providers', { name: 'aws', namespace: organization, 'registry-name': 'private', ...attributes }),
  );

describe('a provider', () => {
  it('is created, and shown as the same document by its names, by its id and in the list', async () => {
    const { body } = expectStatus(await server.post(PATH, providerBody('acme', 'aws')), 201);
    const self = pathOfProvider('acme', 'aws');
    expect(body.data).toEqual({
      id: expect.stringMatching(/^prov-\w{16}$/),
      type: 'registry-providers',
      attributes: {
        name: 'aws',
        namespace: 'acme',
        'registry-name': 'private',
        'created-at': expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        'updated-at': body.data.attributes['created-at'],
        permissions: { 'can-delete': true },
      },
      relationships: {
        organization: { data: { type: 'organizations', id: 'acme' }, links: { related: '/api/v2/organizations/acme' } },
        'registry-provider-versions': { data: [], links: { related: `${self}/versions` } },
        'tag-bindings': { data: [], links: { related: `/api/v2/registry-providers/${body.data.id}/tag-bindings` } },
      },
      links: { self },
    });
    expect((await server.get(self)).body).toEqual(body);
    expect((await server.get(`/api/v2/registry-providers/${body.data.id}`)).body).toEqual(body);
    expect((await server.get(`${PATH}?q=aws`)).body.data).toEqual([body.data]);
  });

  it('is refused with both errors if the registry name is blank', async () => {
    const { body } = expectStatus(await create({ name: 'nowhere', 'registry-name': '' }), 422);
    expect(body.errors.map(({ detail }: { detail: string }) => detail)).toEqual([
      "Registry name can't be blank",
      'Registry name is not included in the list',
    ]);
  });

  it("may have an underscore in its name, as in the vendor's API", async () => {
    const { body } = expectStatus(await server.post(PATH, providerBody('acme', 'provider_name')), 201);
    expect(body.data.attributes.name).toBe('provider_name');
    expectStatus(await server.delete(pathOfProvider('acme', 'provider_name')), 204);
  });

  it('lists its versions, newest first', async () => {
    await makeProvider(server, 'acme', 'versioned');
    const versions = [];
    for (const version of ['1.0.0', '1.1.0']) versions.push(await makeVersion(server, 'acme', 'versioned', version));
    const { body } = expectStatus(await server.get(pathOfProvider('acme', 'versioned')), 200);
    expect(body.data.relationships['registry-provider-versions'].data).toEqual(
      versions.toReversed().map(({ id }) => ({ type: 'registry-provider-versions', id })),
    );
    expect((await server.get(`${PATH}?q=versioned`)).body.data).toEqual([body.data]);
  });

  it.each([
    [
      'with the id that terraform-provider-tfe sends',
      { type: 'registry-providers', id: 'registry-providers' },
      'by-id',
    ],
    ['with an empty type', { type: '' }, 'by-nothing'],
    ['without a type', {}, 'by-silence'],
  ])('is created if the request comes %s', async (_, more, name) => {
    const attributes = { name, namespace: 'acme', 'registry-name': 'private' };
    const { body } = expectStatus(await server.post(PATH, { data: { ...more, attributes } }), 201);
    expect(body.data.id).toMatch(/^prov-/);
  });

  it('has a unique name in its organization', async () => {
    await makeProvider(server, 'acme', 'unique');
    expect(refusalOf(await create({ name: 'unique' }))).toEqual([
      '/data/attributes/name',
      'Name has already been taken',
    ]);
    expectStatus(await create({ name: 'unique' }, 'neighbour'), 201);
    expectStatus(await server.delete(pathOfProvider('acme', 'unique')), 204);
    expectStatus(await create({ name: 'unique' }), 201);
  });

  it('is created only once, however many requests create it at the same time', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => create({ name: 'raced' })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...Array<number>(19).fill(422)]);
  });

  it.each([
    [{ name: undefined }, '/data/attributes/name', "Name can't be blank"],
    [{ name: '' }, '/data/attributes/name', "Name can't be blank"],
    [{ name: 7 }, '/data/attributes/name', 'Name must be a string'],
    [{ name: 'A WS' }, '/data/attributes/name', /^Name may only contain/],
    [{ name: 'a\u0000' }, '/data/attributes/name', /cannot be stored/],
    [{ name: 'terraform-aws' }, '/data/attributes/name', /must not begin with terraform-/],
    [{ namespace: undefined }, '/data/attributes/namespace', "Namespace can't be blank"],
    [{ namespace: 'hashicorp' }, '/data/attributes/namespace', /must be the organization, acme$/],
    [{ 'registry-name': undefined }, '/data/attributes/registry-name', "Registry name can't be blank"],
    [{ 'registry-name': '' }, '/data/attributes/registry-name', "Registry name can't be blank"],
    [{ 'registry-name': 'Private' }, '/data/attributes/registry-name', 'Registry name is not included in the list'],
  ])('is refused if the attributes are %j', async (attributes, pointer, detail) => {
    expect(refusalOf(await create({ name: 'new', ...attributes }))).toEqual([pointer, matchRefusalText(detail)]);
  });

  it('is refused for another resource type', async () => {
    const body = resource('registry-modules', { name: 'x', namespace: 'acme', 'registry-name': 'private' });
    expect(refusalOf(await server.post(PATH, body))).toEqual(['/data/type', 'Type must be registry-providers']);
  });
});

describe('providers of the public registry', () => {
  const at = (name: string, namespace = 'hashicorp', organization = 'acme') =>
    `${pathOfProviders(organization)}/public/${namespace}/${name}`;
  const list = (name: string, organization = 'acme', api: ApiTestClient = server, namespace = 'hashicorp') =>
    create({ name, namespace, 'registry-name': 'public' }, organization, api);
  const curate = async (organization: string, isOn: boolean): Promise<void> => {
    const body = resource('organizations', { 'public-provider-curation-enabled': isOn });
    const { body: changed } = expectStatus(await server.patch(`/api/v2/organizations/${organization}`, body), 200);
    expect(changed.data.attributes['public-provider-curation-enabled']).toBe(isOn);
  };

  it('are records beside private providers: created, shown by path and id, listed and deleted', async () => {
    await makeProvider(server, 'acme', 'random');
    const { body } = expectStatus(await list('random'), 201);
    expect(body.data).toMatchObject({
      id: expect.stringMatching(/^prov-\w{16}$/),
      attributes: {
        name: 'random',
        namespace: 'hashicorp',
        'registry-name': 'public',
        permissions: { 'can-delete': true },
      },
      relationships: { organization: { data: { id: 'acme' } }, 'registry-provider-versions': { data: [] } },
      links: { self: at('random') },
    });
    expect((await server.get(at('random'))).body).toEqual(body);
    expect((await server.get(`/api/v2/registry-providers/${body.data.id}`)).body).toEqual(body);
    const listed = expectStatus(await server.get(`${PATH}?filter[registry_name]=public&q=hashicorp/ran`), 200).body;
    expect(listed).toMatchObject({ data: [body.data], meta: { pagination: { 'total-count': 1 } } });
    expect((await server.get(`${PATH}?q=random`)).body.data).toHaveLength(2);
    expect((await server.get('/api/registry/v1/providers/hashicorp/random/versions')).status).toBe(404);
    expectStatus(await server.delete(at('random')), 204);
    expect([(await server.get(at('random'))).status, (await server.delete(at('random'))).status]).toEqual([404, 404]);
    expectStatus(await server.get(pathOfProvider('acme', 'random')), 200);
  });

  it('are unique by namespace and name in an organization, in any case', async () => {
    expectStatus(await list('null'), 201);
    expectStatus(await list('null', 'acme', server, 'other'), 201);
    expectStatus(await list('null', 'neighbour'), 201);
    for (const namespace of ['hashicorp', 'HashiCorp'])
      expect(refusalOf(await list('null', 'acme', server, namespace))[1]).toBe('Name has already been taken');
    expect(refusalOf(await list('null', 'acme', server, 'a b'))).toEqual([
      '/data/attributes/namespace',
      expect.stringMatching(/^Namespace may only contain/),
    ]);
  });

  it('are created by managers of providers, read by members, and not found for other callers', async () => {
    expectStatus(await list('http'), 201);
    expect([(await list('dns', 'acme', member)).status, (await member.delete(at('http'))).status]).toEqual([404, 404]);
    expectStatus(await member.get(at('http')), 200);
    const strangers = [
      await list('dns', 'acme', stranger),
      await stranger.get(at('http')),
      await stranger.get(at('no')),
    ];
    expect(strangers.map(({ status }) => status)).toEqual([404, 404, 404]);
    expect((await server.as(null).get(at('http'))).status).toBe(401);
  });

  it('are recorded in the audit trail with their namespace', async () => {
    await makeOrganization(server, 'curated');
    expectStatus(await list('tls', 'curated'), 201);
    expectStatus(await server.delete(at('tls', 'hashicorp', 'curated')), 204);
    const reader = server.as(await makeOrganizationToken(server, 'curated'));
    const { body } = expectStatus(await reader.get('/api/v2/organization/audit-trail'), 200);
    const meta = { name: 'tls', namespace: 'hashicorp', registry_name: 'public' };
    expect(
      body.data
        .filter(({ resource: { type } }: any) => type === 'registry_provider')
        .map(({ resource: { action, meta: recorded } }: any) => [action, recorded]),
    ).toEqual([
      ['destroy', meta],
      ['create', meta],
    ]);
  });

  it('return 403 to members, and are hidden in the list, while curation is disabled', async () => {
    await makeOrganization(server, 'uncurated');
    const { id } = expectStatus(await list('tls', 'uncurated'), 201).body.data;
    await curate('uncurated', false);
    const path = at('tls', 'hashicorp', 'uncurated');
    const requestAll = async (api: ApiTestClient): Promise<ApiResponse[]> => [
      await list('dns', 'uncurated', api),
      await api.get(path),
      await api.get(`/api/v2/registry-providers/${id}`),
      await api.get(at('none', 'hashicorp', 'uncurated')),
      await api.delete(path),
    ];
    expect((await requestAll(server)).map(({ status, body }) => [status, body.errors[0].detail])).toEqual(
      Array(5).fill([403, 'Public provider curation is disabled']),
    );
    expect((await requestAll(stranger)).map(({ status }) => status)).toEqual(Array(5).fill(404));
    expect(listNames(expectStatus(await server.get(pathOfProviders('uncurated')), 200))).toEqual([]);
    await curate('uncurated', true);
    expectStatus(await server.get(path), 200);
  });

  it.each(['Private', 'other', 'private%2F', 'x'.repeat(300)])(
    'a private provider is not found under the registry name %s',
    async (registry) => {
      await create({ name: 'registered' });
      const path = `${PATH}/${registry}/acme/registered`;
      for (const api of [server, member, stranger]) {
        expect([(await api.get(path)).status, (await api.delete(path)).status]).toEqual([404, 404]);
      }
    },
  );

  it.each(['neighbour', 'hashicorp'])('a private provider is not found under the namespace %s', async (namespace) => {
    await create({ name: 'spaced' });
    const path = `${PATH}/private/${namespace}/spaced`;
    expect([(await server.get(path)).status, (await server.delete(path)).status]).toEqual([404, 404]);
  });
});

describe('a provider', () => {
  it.each([
    ['private', 'acme'],
    ['public', 'Hashi'],
  ])('is found in the %s registry by its names in any case', async (registry, namespace) => {
    expectStatus(await create({ name: 'anycase', 'registry-name': registry, namespace }), 201);
    const path = `/api/v2/organizations/ACME/registry-providers/${registry}/${namespace.toUpperCase()}/AnyCase`;
    const { attributes } = expectStatus(await server.get(path), 200).body.data;
    expect([attributes.namespace, attributes.name]).toEqual([namespace, 'anycase']);
    expectStatus(await server.delete(path), 204);
  });
});

describe('the list of providers', () => {
  beforeAll(async () => {
    await makeOrganization(server, 'listed');
    for (const name of ['google', 'aws', 'google-beta', 'azurerm']) await makeProvider(server, 'listed', name);
    await makeVersion(server, 'listed', 'aws', '1.0.0');
  });

  it.each([
    ['', ['aws', 'azurerm', 'google', 'google-beta']],
    ['q=GOOGLE', ['google', 'google-beta']],
    ['q=%25', []],
    ['q=', ['aws', 'azurerm', 'google', 'google-beta']],
    ['filter[registry_name]=private&q=az', ['azurerm']],
    ['filter[registry_name]=public', []],
    ['filter[organization_name]=listed&q=aws', ['aws']],
    ['filter[organization_name]=acme', []],
    ['unheard-of=1&q=aws', ['aws']],
  ])('returns the matching providers for %j', async (query, expected) => {
    const answer = expectStatus(await server.get(`${pathOfProviders('listed')}?${query}`), 200);
    expect(listNames(answer)).toEqual(expected);
    expect(answer.body.meta.pagination['total-count']).toBe(expected.length);
  });

  it('has pages', async () => {
    const { body } = expectStatus(await server.get(`${pathOfProviders('listed')}?page[size]=3`), 200);
    expect(body.meta.pagination).toEqual({
      'current-page': 1,
      'page-size': 3,
      'prev-page': null,
      'next-page': 2,
      'total-pages': 2,
      'total-count': 4,
    });
    expect(listNames(expectStatus(await server.get(body.links.next as string), 200))).toEqual(['google-beta']);
    const past = await server.get(`${pathOfProviders('listed')}?page[number]=9`);
    expect(past.body).toMatchObject({ data: [], meta: { pagination: { 'current-page': 9, 'total-count': 4 } } });
  });

  it('includes versions as the same documents that their own endpoints return', async () => {
    const version = expectStatus(await server.get(pathOfVersion('listed', 'aws', '1.0.0')), 200).body.data;
    for (const include of ['registry-provider-versions', 'registry_provider_versions']) {
      const paths = [pathOfProviders('listed'), pathOfProvider('listed', 'aws')];
      for (const path of paths) {
        expect(expectStatus(await server.get(`${path}?include=${include}`), 200).body.included).toEqual([version]);
      }
    }
    const none = await server.get(`${pathOfProvider('listed', 'google')}?include=registry-provider-versions`);
    expect(expectStatus(none, 200).body.included).toEqual([]);
    expect((await server.get(`${pathOfProvider('listed', 'aws')}`)).body).not.toHaveProperty('included');
    expect(expectStatus(await server.get(`${pathOfProviders('listed')}?include=owner`), 400).text).toContain(
      'include parameter',
    );
  });

  it('is empty if the organization has no provider', async () => {
    await makeOrganization(server, 'bare');
    const { body } = expectStatus(await server.get(pathOfProviders('bare')), 200);
    expect(body).toMatchObject({ data: [], meta: { pagination: { 'total-pages': 0, 'total-count': 0 } } });
    expectStatus(await server.get(pathOfProviders('nowhere')), 404);
  });
});

describe('tags of a provider', () => {
  const own = '/data/relationships/tag-bindings/data';
  const tag = (path: string, tags: object, api: ApiTestClient = server): Promise<ApiResponse> =>
    api.patch(path, resource('registry-providers', {}, { 'tag-bindings': tags }));
  const pairs = async (id: string): Promise<unknown> =>
    expectStatus(await server.get(`/api/v2/registry-providers/${id}/tag-bindings`), 200).body.data.map(
      ({ attributes: { key, value } }: any) => [key, value],
    );

  it('are replaced completely, unchanged if the request omits them, and listed by the id of the provider', async () => {
    const id = await makeProvider(server, 'acme', 'tagged');
    const path = pathOfProvider('acme', 'tagged');
    const { body } = expectStatus(await tag(path, tagBindings({ env: 'prod', team: '' })), 200);
    const list = expectStatus(await server.get(`/api/v2/registry-providers/${id}/tag-bindings`), 200).body.data;
    expect(list).toEqual([
      { id: expect.stringMatching(/^tb-/), type: 'tag-bindings', attributes: { key: 'env', value: 'prod' } },
      { id: expect.stringMatching(/^tb-/), type: 'tag-bindings', attributes: { key: 'team', value: '' } },
    ]);
    expect(body.data.relationships['tag-bindings'].data).toEqual(
      list.map((binding: any) => ({ type: 'tag-bindings', id: binding.id })),
    );
    expect((await server.get(path)).body).toEqual(body);
    expectStatus(await server.patch(path, resource('registry-providers')), 200);
    expect(await pairs(id)).toEqual([
      ['env', 'prod'],
      ['team', ''],
    ]);
    expectStatus(await tag(path, tagBindings({ team: 'core' })), 200);
    expect(await pairs(id)).toEqual([['team', 'core']]);
    expectStatus(await tag(path, { data: [] }), 200);
    expect(await pairs(id)).toEqual([]);
  });

  it('can belong to public providers', async () => {
    const { id } = expectStatus(
      await create({ name: 'labels', namespace: 'cloudposse', 'registry-name': 'public' }),
      201,
    ).body.data;
    expectStatus(await tag(`${PATH}/public/cloudposse/labels`, tagBindings({ env: 'prod' })), 200);
    expect(await pairs(id)).toEqual([['env', 'prod']]);
  });

  it('are refused with a pointer into the request, without any change', async () => {
    const id = await makeProvider(server, 'acme', 'strict');
    const path = pathOfProvider('acme', 'strict');
    expectStatus(await tag(path, tagBindings({ env: 'prod' })), 200);
    expect(refusalOf(await tag(path, tagBindings({ 'no/slash': 'x' })))).toEqual([
      `${own}/0/attributes/key`,
      'Key is invalid',
    ]);
    const many = tagBindings(Object.fromEntries(Array.from({ length: 11 }, (_, n) => [`k${n}`, 'x'])));
    expect(refusalOf(await tag(path, many))).toEqual([own, 'cannot exceed 10 bindings per resource']);
    expect(await pairs(id)).toEqual([['env', 'prod']]);
  });

  it('are read by members and changed by managers, and the audit trail records changes', async () => {
    await makeOrganization(server, 'tagging');
    const id = await makeProvider(server, 'tagging', 'aws');
    const path = pathOfProvider('tagging', 'aws');
    const reader = server.as(await makeOrganizationToken(server, 'tagging'));
    expectStatus(await tag(path, tagBindings({ env: 'prod' }), reader), 404);
    expectStatus(await tag(path, tagBindings({ env: 'prod' }), stranger), 404);
    expectStatus(await stranger.get(`/api/v2/registry-providers/${id}/tag-bindings`), 404);
    expectStatus(await reader.get(`/api/v2/registry-providers/${id}/tag-bindings`), 200);
    expectStatus(await tag(path, tagBindings({ env: 'prod' })), 200);
    expectStatus(await tag(path, tagBindings({ env: 'prod' })), 200);
    const { body } = expectStatus(await reader.get('/api/v2/organization/audit-trail'), 200);
    const updates = body.data.filter(
      ({ resource: { type, action } }: any) => `${type} ${action}` === 'registry_provider update',
    );
    expect(updates.map((entry: any) => entry.resource.meta)).toEqual([
      { name: 'aws', change: 'tag_bindings', from: [], to: [{ key: 'env', value: 'prod' }] },
    ]);
  });
});

describe('deleting a provider', () => {
  it('deletes its versions and platforms, and the audit trail records each of them', async () => {
    await makeOrganization(server, 'told');
    expectStatus(await addKey(server, 'told', signer), 201);
    const provider = await makeProvider(server, 'told', 'going');
    const path = await publishVersion(server, 'told', 'going', '1.0.0', signer, [LINUX, DARWIN]);
    const version = (await server.get(path)).body.data;
    const draft = await makeVersion(server, 'told', 'going', '1.1.0');
    expectStatus(await server.delete(pathOfProvider('told', 'going')), 204);
    const paths = [
      pathOfProvider('told', 'going'),
      `/api/v2/registry-providers/${provider}`,
      path,
      `${path}/platforms`,
    ];
    for (const one of paths) expectStatus(await server.get(one), 404);
    expectStatus(await server.delete(pathOfProvider('told', 'going')), 404);

    const reader = server.as(await makeOrganizationToken(server, 'told'));
    const { body } = expectStatus(await reader.get('/api/v2/organization/audit-trail'), 200);
    type Entry = { resource: { type: string; id: string; action: string; meta: object } };
    const entries = (body.data as Entry[])
      .filter(({ resource: { type } }) => type.startsWith('registry_provider'))
      .map(({ resource: { type, id, action } }) => [type, action, id])
      .toReversed();
    const [one, otherPlatform] = version.relationships.platforms.data.map(({ id }: { id: string }) => id) as [
      string,
      string,
    ];
    const destroyed = entries.filter(([, action]) => action === 'destroy');
    expect(destroyed.map(([type, , id]) => [type, id])).toEqual([
      ['registry_provider', provider],
      ...[one, otherPlatform].map(() => ['registry_provider_platform', expect.any(String)]),
      ['registry_provider_version', version.id],
      ['registry_provider_version', draft.id],
    ]);
    expect(
      destroyed
        .filter(([type]) => type === 'registry_provider_platform')
        .map(([, , id]) => id)
        .toSorted(),
    ).toEqual([one, otherPlatform].toSorted());
    expect(entries[0]).toEqual(['registry_provider', 'create', provider]);
    const meta = (body.data as Entry[]).find(
      ({ resource: { type, action } }) => type === 'registry_provider_platform' && action === 'create',
    )?.resource.meta;
    expect(meta).toEqual({ provider: 'going', version: '1.0.0', ...platformAttributes('going', '1.0.0', ...DARWIN) });
  });

  it('hides a provider with thousands of versions at once, and deletes the versions in steps that can be interrupted, in the name of the caller; before that, list pages are shorter and includes are limited', async () => {
    const { id: organization } = await makeOrganization(server, 'many');
    await makeProvider(server, 'many', 'small');
    await makeVersion(server, 'many', 'small', '1.0.0');
    const provider = await makeProvider(server, 'many', 'large');
    const versions = Array.from({ length: MANY }, (_, n) => `1.0.${n}`);
    await seedVersions(organization, provider, versions);
    const path = pathOfProvider('many', 'large');
    const list = (query: string) => server.get(`${pathOfProviders('many')}?${query}`);
    expect(expectStatus(await list(''), 200).body.meta.pagination).toMatchObject({ 'page-size': 20, 'total-pages': 1 });
    const second = expectStatus(await list('page[number]=2&include=registry_provider_versions'), 200);
    expect(listNames(second)).toEqual(['small']);
    expect(second.body.meta.pagination).toMatchObject({ 'page-size': 1, 'total-pages': 2, 'total-count': 2 });
    const { data, included } = expectStatus(await server.get(`${path}?include=registry_provider_versions`), 200).body;
    const references = data.relationships['registry-provider-versions'].data as { id: string }[];
    expect(references).toHaveLength(MANY);
    // The newest versions that fit into 4 MiB, at 1,300 bytes each.
    expect((included as { id: string }[]).map(({ id }) => id)).toEqual(references.slice(0, 3_226).map(({ id }) => id));
    expectStatus(await server.delete(path), 204);
    for (const deletedPath of [path, `${path}/versions`, `${path}/versions/1.0.0`, `${path}/versions/1.0.${MANY - 1}`])
      expectStatus(await server.get(deletedPath), 404);
    await makeProvider(server, 'many', 'large');
    await makeVersion(server, 'many', 'large', '1.0.0');

    const stopped = new AbortController();
    const steps: number[] = [];
    const done = (count = 1): void => {
      steps.push(count);
      if (steps.length === 2) stopped.abort();
    };
    await createDeletedProvidersJob(server.store).run({ signal: stopped.signal, done });
    expect(steps).toEqual([VERSIONS_PER_DELETION, VERSIONS_PER_DELETION]);
    expect(await runJobOnce(createDeletedProvidersJob(server.store))).toBe(MANY - 3 * VERSIONS_PER_DELETION);
    expect(await runJobOnce(createDeletedProvidersJob(server.store))).toBe(0);

    await waitForFollowers(server.store, 'audit_trail');
    const deletions = await server.database.rows(sql`
      select count(*) as entries, count(distinct resource_id) as versions,
             count(distinct (accessor, actor_name, auth_type, request)) as callers
        from audit_trail_entries
       where organization = ${organization} and action = 'destroy'
         and (resource_type = 'registry_provider_version' or resource_id = ${provider})`);
    expect(deletions).toEqual([{ entries: MANY + 1, versions: MANY + 1, callers: 1 }]);
    expectStatus(await server.get(`${path}/versions/1.0.0`), 200);
    expectStatus(await server.get(`${pathOfProvider('many', 'small')}/versions/1.0.0`), 200);
  });

  it('happens with its organization and leaves no rows', async () => {
    const { id } = await makeOrganization(server, 'ended');
    expectStatus(await addKey(server, 'ended', signer), 201);
    await makeProvider(server, 'ended', 'last');
    await publishVersion(server, 'ended', 'last', '1.0.0', signer);
    expectStatus(await server.delete('/api/v2/organizations/ended'), 204);
    const remaining = await server.database.rows(sql`
      select id from registry_providers where organization = ${id}
      union all select id from registry_provider_versions where organization = ${id}
      union all select id from registry_provider_platforms where organization = ${id}
      union all select id from gpg_keys where organization = ${id}`);
    expect(remaining).toEqual([]);
  });

  it('prevents new versions and platforms from simultaneous requests', async () => {
    const path = pathOfProvider('acme', 'fading');
    const platform = platformBody(platformAttributes('fading', '1.0.0'));
    await makeProvider(server, 'acme', 'fading');
    runBetween(server.store, () => server.delete(path));
    expect((await server.post(`${path}/versions`, versionBody('1.0.0'))).status).toBe(404);
    await makeProvider(server, 'acme', 'fading');
    await makeVersion(server, 'acme', 'fading', '1.0.0');
    runBetween(server.store, () => server.delete(path));
    expectStatus(await server.post(`${path}/versions/1.0.0/platforms`, platform), 404);
    // A platform is not created below a new provider with the same name either.
    await makeProvider(server, 'acme', 'fading');
    expectStatus(await server.post(`${path}/versions/1.0.0/platforms`, platform), 404);
  });

  it('also deletes versions and platforms that are created during the request', async () => {
    const path = pathOfVersions('acme', 'filling');
    await makeProvider(server, 'acme', 'filling');
    await makeVersion(server, 'acme', 'filling', '1.0.0');
    runBetween(server.store, async () => {
      await makeVersion(server, 'acme', 'filling', '1.1.0');
      const platform = platformBody(platformAttributes('filling', '1.0.0'));
      expectStatus(await server.post(`${path}/1.0.0/platforms`, platform), 201);
    });
    expectStatus(await server.delete(pathOfProvider('acme', 'filling')), 204);
    const orphans = await server.database.rows(sql`
      select v.id from registry_provider_versions v where not exists (select 1 from registry_providers p where p.id = v.provider)
      union all
      select l.id from registry_provider_platforms l
       where not exists (select 1 from registry_provider_versions v where v.id = l.version)`);
    expect(orphans).toEqual([]);
  });

  it('a new provider is refused if its organization is deleted during the request', async () => {
    await makeOrganization(server, 'ending');
    runBetween(server.store, () => server.delete('/api/v2/organizations/ending'));
    expect((await create({ name: 'late' }, 'ending')).status).toBe(404);
  });

  it('succeeds once, however many requests delete it while others add to it', async () => {
    for (let round = 0; round < 5; round += 1) {
      await makeProvider(server, 'acme', 'crowded');
      for (const version of ['1.0.0', '2.0.0']) await makeVersion(server, 'acme', 'crowded', version);
      const path = pathOfProvider('acme', 'crowded');
      const answers = await Promise.all([
        ...Array.from({ length: 3 }, () => server.delete(path)),
        server.delete(`${path}/versions/2.0.0`),
        server.post(`${path}/versions/1.0.0/platforms`, platformBody(platformAttributes('crowded', '1.0.0'))),
      ]);
      const statuses = answers.map(({ status }) => status);
      expect(statuses.slice(0, 3).toSorted()).toEqual([204, 404, 404]);
      expect([204, 404]).toContain(statuses[3]);
      expect([201, 404]).toContain(statuses[4]);
    }
  });
});

describe('permissions on providers', () => {
  it('let members read providers, and managers of providers change them', async () => {
    await create({ name: 'guarded' });
    const path = pathOfProvider('acme', 'guarded');
    const access = { 'organization-access': { 'manage-providers': true } };
    const managers = await makeTeam(server, 'acme', 'publishers', access);
    const manager = await makeMember(server, 'acme', 'max', [managers]);
    const { id } = expectStatus(await server.get(path), 200).body.data;
    for (const api of [member, server.as(await makeOrganizationToken(server, 'acme'))]) {
      expect(expectStatus(await api.get(path), 200).body.data.attributes.permissions).toEqual({ 'can-delete': false });
      expectStatus(await api.get(`/api/v2/registry-providers/${id}`), 200);
      expect(listNames(expectStatus(await api.get(`${PATH}?q=guarded`), 200))).toEqual(['guarded']);
      expectStatus(await create({ name: 'mine' }, 'acme', api), 404);
      expectStatus(await api.delete(path), 404);
    }
    const token = server.as(await makeToken(server, `/api/v2/teams/${managers}/authentication-token`));
    expectStatus(await create({ name: 'theirs' }, 'acme', token), 201);
    expect(expectStatus(await manager.get(path), 200).body.data.attributes.permissions).toEqual({ 'can-delete': true });
    expectStatus(await manager.delete(path), 204);
  });

  it('return 404 to callers of other organizations by name, by id, and with their own organization in the path', async () => {
    const id = await makeProvider(server, 'acme', 'secret');
    const answers = [
      await stranger.get(PATH),
      await stranger.get(pathOfProvider('acme', 'secret')),
      await stranger.get(`/api/v2/registry-providers/${id}`),
      await stranger.get(`${pathOfProviders('neighbour')}/private/acme/secret`),
      await stranger.get(`${pathOfProviders('neighbour')}/private/neighbour/secret`),
      await create({ name: 'planted' }, 'acme', stranger),
      await stranger.delete(pathOfProvider('acme', 'secret')),
      await stranger.delete(`${pathOfProviders('neighbour')}/private/acme/secret`),
    ];
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 404));
    expectStatus(await server.get(pathOfProvider('acme', 'secret')), 200);
  });
});

describe('views and snapshots of the registry', () => {
  it('equal those that are rebuilt from the log', async () => {
    await expectViewsMatchLog(server, [registryDefinition]);
  });
});
