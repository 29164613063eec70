import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { act } from '../../../test/support/audited-organization.js';
import {
  expectStatus,
  makeMember,
  makeOrganization,
  makeOrganizationToken,
  makeTeam,
  makeWorkspace,
  resource,
  type SeededMember,
} from '../../../test/support/seeds.js';
import { startTestServer, type ApiTestClient, type TestServer } from '../../../test/support/server.js';
import { listActions, requestTrail, listIds, readTrail } from '../spec.js';
import type { TrailEntry } from '../writing/trail-entry.js';

let server: TestServer;
let reader: ApiTestClient;
let workspaces: readonly [string, string];
let ada: SeededMember;
let all: readonly TrailEntry[];

beforeAll(async () => {
  server = await startTestServer({ followers: true });
  const { ownersTeam } = await makeOrganization(server, 'acme');
  workspaces = [await makeWorkspace(server, 'acme', 'one'), await makeWorkspace(server, 'acme', 'two')];
  ada = await makeMember(server, 'acme', 'ada', [ownersTeam]);
  for (const workspace of workspaces) {
    for (const api of [server, ada]) {
      await act(api, workspace, 'lock');
      await act(api, workspace, 'unlock');
    }
  }
  await makeTeam(server, 'acme', 'core');
  // The same, where it must not be seen.
  await makeOrganization(server, 'rival');
  await act(server, await makeWorkspace(server, 'rival', 'one'), 'lock');
  reader = server.as(await makeOrganizationToken(server, 'acme'));
  all = (await readTrail(reader)).data;
});
afterAll(() => server.close());

const idsWhere = (condition: (entry: TrailEntry) => boolean): string[] => all.filter(condition).map(({ id }) => id);

type Query = Readonly<Record<string, string>>;

describe('filters of the trail', () => {
  it.each<[string, () => Query, (entry: TrailEntry) => boolean]>([
    [
      'the type of the resource',
      () => ({ 'filter[resource-type]': 'team' }),
      ({ resource: { type } }) => type === 'team',
    ],
    [
      'any of several types',
      () => ({ 'filter[resource-type]': 'team, organization,unheard_of' }),
      ({ resource: { type } }) => type === 'team' || type === 'organization',
    ],
    ['the action', () => ({ 'filter[action]': 'lock' }), ({ resource: { action } }) => action === 'lock'],
    ['the id of who acted', () => ({ 'filter[actor]': ada.id }), ({ auth }) => auth.accessor_id === ada.id],
    ['their name', () => ({ 'filter[actor]': ada.username }), ({ auth }) => auth.accessor_id === ada.id],
    [
      'one by name and one by id',
      () => ({ 'filter[actor]': `admin,${ada.id}` }),
      ({ auth }) => auth.accessor_id === ada.id || auth.description === 'admin',
    ],
    [
      'the id of the resource',
      () => ({ 'filter[resource-id]': workspaces[0] }),
      ({ resource: { id } }) => id === workspaces[0],
    ],
    [
      'all of these together',
      () => ({
        'filter[resource-id]': workspaces.join(),
        'filter[actor]': ada.username,
        'filter[action]': 'unlock,force_unlock',
        'filter[resource-type]': 'workspace',
      }),
      ({ resource: { action }, auth }) => action === 'unlock' && auth.accessor_id === ada.id,
    ],
    ['nothing that is known', () => ({ 'filter[colour]': 'red', 'filter[actor]': '' }), () => true],
  ])('ask for %s', async (_, query, condition) => {
    const wanted = idsWhere(condition);
    expect(wanted.length).toBeGreaterThan(0);
    const page = await readTrail(reader, query());
    expect(listIds(page)).toEqual(wanted);
    expect(page.pagination.total_count).toBe(wanted.length);
  });

  it('find nothing where nothing matches, and nothing of another organization', async () => {
    for (const query of [
      { 'filter[actor]': 'a' },
      { 'filter[actor]': 'ADA' },
      { 'filter[resource-type]': 'workspace', 'filter[action]': 'index' },
    ]) {
      expect(await readTrail(reader, query)).toMatchObject({
        data: [],
        pagination: { total_count: 0, total_pages: 0 },
      });
    }
    const rival = server.as(await makeOrganizationToken(server, 'rival'));
    expect(await readTrail(rival, { 'filter[resource-id]': workspaces[0] })).toMatchObject({ data: [] });
    expect(listActions(await readTrail(rival, { 'filter[action]': 'lock' }))).toEqual(['workspace lock']);
  });

  it('fall into pages, and go with since', async () => {
    const query = { 'filter[resource-type]': 'workspace', 'page[size]': '3' };
    const wanted = idsWhere(({ resource: { type } }) => type === 'workspace');
    const pages = [];
    for (let next: number | null = 1; next !== null; next = pages.at(-1)?.pagination.next_page ?? null) {
      pages.push(await readTrail(reader, { ...query, 'page[number]': String(next) }));
    }
    expect(listIds(...pages)).toEqual(wanted);
    expect(pages).toHaveLength(Math.ceil(wanted.length / 3));
    const middle = all.find(({ id }) => id === wanted[4]);
    const since = await readTrail(reader, { ...query, since: middle?.timestamp ?? '' });
    expect(listIds(since)).toEqual(wanted.slice(0, 3));
    expect(since.pagination).toMatchObject({ total_count: 4, total_pages: 2 });
  });

  it('keep their pages where they are while new events come, and show who resumes what is newer', async () => {
    const ours = server.as(await makeOrganizationToken(server, 'rival'));
    const [place] = (await server.get('/api/v2/organizations/rival/workspaces')).body.data;
    for (const action of ['unlock', 'lock', 'unlock'] as const) await act(server, place.id, action);
    const query = { 'filter[resource-type]': 'workspace', 'page[size]': '2', since: '2026-01-01' };
    const read = (number: number) => readTrail(ours, { ...query, 'page[number]': String(number) });
    const first = await read(1);
    await act(server, place.id, 'lock');
    await makeTeam(server, 'rival', 'unasked');
    const [second, again] = [await read(2), await read(1)];
    expect([listActions(first), listActions(second)]).toEqual([
      ['workspace unlock', 'workspace lock'],
      ['workspace unlock', 'workspace lock'],
    ]);
    expect(listActions(again)).toEqual(['workspace lock', ...listActions(first)]);
    expect(again.pagination.total_count).toBe(first.pagination.total_count + 1);
  });

  it.each([
    ['filter[resource-type]', 'Work Space'],
    ['filter[action]', ','],
    ['filter[actor]', 'x'.repeat(501)],
    ['filter[resource-id]', 'x'.repeat(501)],
    ['until', 'tomorrow'],
  ])('are a 422 that names %s where it is malformed', async (parameter, value) => {
    const { status, body } = await requestTrail(reader, { [parameter]: value });
    expect(status).toBe(422);
    expect(body.errors[0]).toMatchObject({ status: '422', source: { parameter } });
  });
});

describe('until', () => {
  it('shows what is not later than an entry, and that entry too', async () => {
    for (const [index, { timestamp: until }] of all.entries()) {
      const page = await readTrail(reader, { until });
      expect(listIds(page)).toEqual(all.slice(index).map(({ id }) => id));
      expect(page.pagination.total_count).toBe(all.length - index);
    }
  });

  it('begins a stretch where since ends one: side by side they have every entry once', async () => {
    const bounds = [
      '2026-01-01',
      ...all
        .map(({ timestamp }) => timestamp)
        .filter((_, n) => n % 4 === 0)
        .toReversed(),
    ];
    const pages = [];
    for (const [n, until] of bounds.entries()) {
      if (n > 0) pages.unshift(await readTrail(reader, { since: bounds[n - 1] ?? '', until }));
    }
    expect(listIds(...pages)).toEqual(all.map(({ id }) => id));
  });

  it('knows every form that since knows', async () => {
    const second = all[3]?.timestamp.slice(0, 19) ?? '';
    const wanted = idsWhere(({ timestamp }) => timestamp <= `${second}.999Z`);
    for (const until of [second, `${second}Z`, `${second}.999`]) {
      expect(listIds(await readTrail(reader, { until }))).toEqual(wanted);
    }
    expect(await readTrail(reader, { until: '2026-01-01' })).toMatchObject({
      data: [],
      pagination: { total_count: 0 },
    });
    expect(listIds(await readTrail(reader, { until: '9999-12-31T23:59:59.999-23:59' }))).toHaveLength(all.length);
    expect(listIds(await readTrail(reader, { until: '' }))).toHaveLength(all.length);
  });

  it('goes with filters and pages', async () => {
    const until = all[2]?.timestamp ?? '';
    const locks = idsWhere(({ timestamp, resource: { action } }) => timestamp <= until && action === 'lock');
    expect(listIds(await readTrail(reader, { until, 'filter[action]': 'lock', 'page[size]': '2', page: '2' }))).toEqual(
      locks.slice(2, 4),
    );
  });
});

describe('somebody who is called otherwise now', () => {
  it('is found under both names', async () => {
    const bob = await makeMember(server, 'acme', 'bob', [
      (await server.get('/api/v2/organizations/acme/teams')).body.data.find(
        ({ attributes }: any) => attributes.name === 'owners',
      ).id,
    ]);
    await act(bob, workspaces[0], 'lock');
    expectStatus(await bob.patch('/api/v2/account/update', resource('users', { username: 'robert' })), 200);
    await act(bob, workspaces[0], 'unlock');
    for (const name of [bob.username, 'robert', bob.id]) {
      const query = { 'filter[actor]': name, 'filter[resource-type]': 'workspace' };
      expect(listActions(await readTrail(reader, query))).toEqual(['workspace unlock', 'workspace lock']);
    }
  });
});
