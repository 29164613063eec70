import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { checkDescribedResponse } from '../../../test/support/described-responses.js';
import { logLength } from '../../../test/support/event-log.js';
import { listNames } from '../../../test/support/responses.js';
import {
  expectStatus,
  makeAgentPool,
  makeMember,
  makeOrganization,
  makeOrganizationToken,
  refusalOf,
  related,
  resource,
  type SeededMember,
} from '../../../test/support/seeds.js';
import {
  createApiTestClient,
  startTestServer,
  type ApiTestClient,
  type TestServer,
} from '../../../test/support/server.js';
import { expectViewsMatchLog } from '../../../test/support/views-match-log.js';
import { ipAllowlistsDefinition } from './index.js';

const OFFICE = '203.0.113.7';
const LISTS = '/api/v2/organizations/acme/cidr-range-lists';

let server: TestServer;
let olga: SeededMember;
/** The owner olga, at the address of the office. */
let owner: ApiTestClient;

beforeAll(async () => {
  server = await startTestServer({ env: { CADASTRE_TRUSTED_PROXIES: '127.0.0.1' } });
  const { ownersTeam } = await makeOrganization(server, 'acme');
  olga = await makeMember(server, 'acme', 'olga', [ownersTeam]);
  owner = createApiTestClient(server.url, olga.token, checkDescribedResponse, OFFICE);
});

afterAll(() => server.close());

let count = 0;
const unique = (): string => `list ${(count += 1)}`;

const listBody = (attributes: object = {}, ...ranges: object[]): object =>
  resource(
    'cidr-range-lists',
    { name: unique(), 'enforcement-scope': 'all_agent_pools', ...attributes },
    ranges.length === 0
      ? undefined
      : { 'cidr-ranges': { data: ranges.map((range) => ({ type: 'cidr-ranges', attributes: range })) } },
  );
const rangeBody = (attributes: object): object => resource('cidr-ranges', attributes);

const create = async (attributes: object = {}, ...ranges: object[]): Promise<any> =>
  expectStatus(await owner.post(LISTS, listBody(attributes, ...ranges)), 201).body.data;
const pathOfRanges = (list: string): string => `/api/v2/cidr-range-lists/${list}/relationships/cidr-ranges`;
const pathOfPools = (list: string): string => `/api/v2/cidr-range-lists/${list}/relationships/agent-pools`;

/** Runs a test with a list that restricts the organization, and deletes the list afterwards. */
const withOrganizationList = async (ranges: readonly object[], use: (list: any) => Promise<void>): Promise<void> => {
  const list = await create({ 'enforcement-scope': 'organization' }, ...ranges);
  try {
    await use(list);
  } finally {
    expectStatus(await server.delete(list.links.self), 204);
  }
};

describe('an IP allowlist', () => {
  it('is created with its ranges, and has the same document in every response', async () => {
    const name = unique();
    const list = await create(
      { name, description: 'all' },
      { range: '203.0.113.0/24' },
      { range: '::1', enabled: false },
    );
    const ranges = list.relationships['cidr-ranges'].data.map(({ id }: any) => id);
    expect(list).toEqual({
      id: expect.stringMatching(/^crl-/),
      type: 'cidr-range-lists',
      attributes: {
        name,
        description: 'all',
        'enforcement-scope': 'all_agent_pools',
        'updated-at': expect.any(String),
      },
      relationships: {
        organization: { data: { type: 'organizations', id: 'acme' } },
        'cidr-ranges': related('cidr-ranges', ...ranges),
        'agent-pools': { data: [] },
      },
      links: { self: `/api/v2/cidr-range-lists/${list.id}` },
    });
    expect(expectStatus(await owner.get(list.links.self), 200).body.data).toEqual(list);
    const { data, meta } = expectStatus(await owner.get(`${LISTS}?page[size]=100`), 200).body;
    expect(data.find(({ id }: any) => id === list.id)).toEqual(list);
    expect(meta['client-address']).toBe(OFFICE);
    const listed = expectStatus(await owner.get(pathOfRanges(list.id)), 200).body;
    expect(listed.data).toEqual([
      {
        id: ranges[0],
        type: 'cidr-ranges',
        attributes: {
          range: '203.0.113.0/24',
          description: null,
          enabled: true,
          'updated-at': list.attributes['updated-at'],
        },
        links: { self: `/api/v2/cidr-ranges/${ranges[0]}` },
      },
      expect.objectContaining({
        id: ranges[1],
        attributes: expect.objectContaining({ range: '::1/128', enabled: false }),
      }),
    ]);
    expect(expectStatus(await owner.get(`/api/v2/cidr-ranges/${ranges[0]}`), 200).body.data).toEqual(listed.data[0]);
    const second = expectStatus(await owner.get(`${pathOfRanges(list.id)}?page[size]=1&page[number]=2`), 200).body;
    expect([second.data.map(({ id }: any) => id), second.meta.pagination['total-count']]).toEqual([[ranges[1]], 2]);
  });

  it('is searched by its name, whatever the case', async () => {
    const list = await create({ name: 'Berlin and Munich' });
    expect(listNames(expectStatus(await owner.get(`${LISTS}?q=MUNICH`), 200))).toEqual(['Berlin and Munich']);
    expectStatus(await owner.delete(list.links.self), 204);
    expect(listNames(expectStatus(await owner.get(`${LISTS}?q=munich`), 200))).toEqual([]);
    expectStatus(await owner.get(list.links.self), 404);
  });

  it('is read and changed by owners only', async () => {
    const list = await create({}, { range: '203.0.113.0/24' });
    const range = `/api/v2/cidr-ranges/${list.relationships['cidr-ranges'].data[0].id}`;
    const member = await makeMember(server, 'acme', 'mia');
    const organization = server.as(await makeOrganizationToken(server, 'acme'));
    for (const api of [member, organization]) {
      expectStatus(await api.get(LISTS), 404);
      expectStatus(await api.post(LISTS, listBody()), 404);
      for (const path of [list.links.self, range, pathOfRanges(list.id)]) expectStatus(await api.get(path), 404);
      expectStatus(await api.patch(list.links.self, listBody()), 404);
      expectStatus(await api.patch(range, rangeBody({ enabled: false })), 404);
      for (const path of [list.links.self, range]) expectStatus(await api.delete(path), 404);
    }
  });

  it('keeps attributes that a change does not name', async () => {
    const list = await create({ description: 'old' });
    const changed = expectStatus(
      await owner.patch(list.links.self, resource('cidr-range-lists', { description: null })),
      200,
    ).body.data;
    expect(changed.attributes).toMatchObject({ name: list.attributes.name, description: null });
    const length = await logLength(server.store);
    expectStatus(await owner.patch(list.links.self, resource('cidr-range-lists', { name: list.attributes.name })), 200);
    expect(await logLength(server.store)).toBe(length);
    const added = expectStatus(await owner.post(pathOfRanges(list.id), rangeBody({ range: '10.0.0.0/8' })), 201).body
      .data;
    const path = added.links.self;
    const off = expectStatus(await owner.patch(path, rangeBody({ enabled: false })), 200).body.data;
    expect(off.attributes).toMatchObject({ range: '10.0.0.0/8', enabled: false });
    expectStatus(await owner.delete(path), 204);
    expectStatus(await owner.get(path), 404);
    expectStatus(await owner.delete(path), 404);
  });

  it('has a name that is unique in the organization, and can be the only one for the organization', async () => {
    const { attributes } = await create();
    const name = attributes.name.toUpperCase();
    const refusal = ['/data/attributes/name', 'Name has already been taken'];
    expect(refusalOf(await owner.post(LISTS, listBody({ name })))).toEqual(refusal);
    await withOrganizationList([], async () => {
      const second = ['/data/attributes/enforcement-scope', expect.stringMatching(/^The organization has a list/)];
      expect(refusalOf(await owner.post(LISTS, listBody({ 'enforcement-scope': 'organization' })))).toEqual(second);
      const other = await create();
      const change = resource('cidr-range-lists', { 'enforcement-scope': 'organization' });
      expect(refusalOf(await owner.patch(other.links.self, change))).toEqual(second);
    });
  });

  it.each([
    [{ 'enforcement-scope': 'all' }, [], '/data/attributes/enforcement-scope'],
    [{ name: 7 }, [], '/data/attributes/name'],
    [{ name: '' }, [], '/data/attributes/name'],
    [{}, [{ range: '10.0.0.1/8' }], '/data/relationships/cidr-ranges/data/0/attributes/range'],
    [{}, [{}], '/data/relationships/cidr-ranges/data/0/attributes/range'],
    [{}, Array.from({ length: 101 }, () => ({ range: '10.0.0.0/8' })), '/data/relationships/cidr-ranges/data'],
  ])('refuses %j with the ranges %j and changes nothing', async (attributes, ranges, pointer) => {
    const length = await logLength(server.store);
    const { errors } = expectStatus(await owner.post(LISTS, listBody(attributes, ...ranges)), 422).body;
    expect(errors.map(({ source }: any) => source.pointer)).toEqual([pointer]);
    expect(await logLength(server.store)).toBe(length);
  });

  it.each([
    [{ attributes: { ranges: ['10.0.0.0/8'] } }, '/data/attributes/ranges', /relationship cidr-ranges/],
    [
      { relationships: { 'agent-pools': { data: [{ type: 'agent-pools', id: 'apool-1' }] } } },
      '/data/relationships/agent-pools',
      /relationships\/agent-pools of the new list/,
    ],
  ])(
    'refuses %j, which would restrict nothing',
    async ({ attributes = {}, relationships = {} }: any, pointer, detail) => {
      const body = listBody(attributes) as any;
      const data = { ...body.data, relationships: { ...body.data.relationships, ...relationships } };
      expect(refusalOf(await owner.post(LISTS, { data }))).toEqual([pointer, expect.stringMatching(detail)]);
    },
  );

  it('refuses a range with a text that names the field and what is accepted', async () => {
    const { id } = await create();
    expect(refusalOf(await owner.post(pathOfRanges(id), rangeBody({ range: 'office' })))).toEqual([
      '/data/attributes/range',
      'Range must be an IPv4 or IPv6 range in CIDR notation, such as 203.0.113.0/24 or 2001:db8::/32, or one address, got "office"',
    ]);
  });

  it('has agent pools of the organization only', async () => {
    const list = await create({ 'enforcement-scope': 'selected_agent_pools' });
    const [one, two] = [await makeAgentPool(server, 'acme', 'one'), await makeAgentPool(server, 'acme', 'two')];
    await makeOrganization(server, 'foreign');
    const foreign = await makeAgentPool(server, 'foreign', 'edge');
    expectStatus(await owner.post(pathOfPools(list.id), related('agent-pools', one, two)), 204);
    const refused = await owner.post(pathOfPools(list.id), related('agent-pools', foreign));
    expect(refusalOf(refused)).toEqual(['/data', `Agent pool ${foreign} does not exist in the organization`]);
    const poolsOf = async () =>
      expectStatus(await owner.get(list.links.self), 200).body.data.relationships['agent-pools'].data;
    expect(await poolsOf()).toEqual(related('agent-pools', one, two).data);
    expectStatus(await owner.delete(pathOfPools(list.id), related('agent-pools', one)), 204);
    expect(await poolsOf()).toEqual(related('agent-pools', two).data);
    expectStatus(await server.delete(`/api/v2/agent-pools/${two}`), 204);
    expect(await poolsOf()).toEqual([]);
  });

  it('is refused if the organization has twenty', async () => {
    await makeOrganization(server, 'many');
    const path = '/api/v2/organizations/many/cidr-range-lists';
    for (let n = 0; n < 20; n += 1) expectStatus(await server.post(path, listBody()), 201);
    const refused = expectStatus(await server.post(path, listBody()), 422);
    expect(refused.body.errors[0].detail).toBe('An organization can have at most 20 IP allowlists. Delete one');
  });

  it('leaves views that equal the views rebuilt from the log', async () => {
    expect(await server.database.rows(sql`select 1 from ip_allowlist_ranges limit 1`)).toHaveLength(1);
    await expectViewsMatchLog(server, [ipAllowlistsDefinition]);
  });
});

describe('a change that would lock its caller out', () => {
  it('is refused with the own address, and changes nothing', async () => {
    const length = await logLength(server.store);
    const body = listBody({ 'enforcement-scope': 'organization' }, { range: '198.51.100.0/24' });
    const [pointer, detail] = refusalOf(await owner.post(LISTS, body));
    expect(pointer).toBe('/data/relationships/cidr-ranges/data');
    expect(detail).toMatch(
      /^This would lock you out: no enabled range .*, 203\.0\.113\.7\. First add and enable a range/,
    );
    expect(await logLength(server.store)).toBe(length);
    await withOrganizationList([{ range: '203.0.113.0/24' }, { range: '203.0.114.0/24' }], async (list) => {
      const own = `/api/v2/cidr-ranges/${list.relationships['cidr-ranges'].data[0].id}`;
      expectStatus(await owner.delete(own), 422);
      expectStatus(await owner.patch(own, rangeBody({ enabled: false })), 422);
      expectStatus(await owner.patch(own, rangeBody({ range: '203.0.113.8/32' })), 422);
      expectStatus(await owner.patch(own, rangeBody({ range: '203.0.113.7' })), 200);
    });
  });

  it('is possible for a site administrator, who can remove the list from every address', async () => {
    const body = listBody({ 'enforcement-scope': 'organization' }, { range: '198.51.100.0/24' });
    const list = expectStatus(await server.post(LISTS, body), 201).body.data;
    expectStatus(await owner.get(LISTS), 403);
    expectStatus(await server.get('/api/v2/organizations/acme'), 200);
    expectStatus(await server.delete(list.links.self), 204);
    expectStatus(await owner.get(LISTS), 200);
  });
});
