import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { act } from '../../../../test/support/audited-organization.js';
import {
  expectStatus,
  makeMember,
  makeOrganization,
  makeOrganizationToken,
  makeTeam,
  makeWorkspace,
  resource,
  type SeededMember,
} from '../../../../test/support/seeds.js';
import { startTestServer, type ApiTestClient, type TestServer } from '../../../../test/support/server.js';
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
  // The same actions in another organization, which must not be visible.
  await makeOrganization(server, 'rival');
  await act(server, await makeWorkspace(server, 'rival', 'one'), 'lock');
  reader = server.as(await makeOrganizationToken(server, 'acme'));
  all = (await readTrail(reader)).data;
});
afterAll(() => server.close());

const idsWhere = (condition: (entry: TrailEntry) => boolean): string[] => all.filter(condition).map(({ id }) => id);

type Query = Readonly<Record<string, string>>;

describe('filters of the audit trail', () => {
  it.each<[string, () => Query, (entry: TrailEntry) => boolean]>([
    [
      'the type of the resource',
      () => ({ 'filter[resource-type]': 'team' }),
      ({ resource: { type } }) => type === 'team',
    ],
    [
      'one of several types',
      () => ({ 'filter[resource-type]': 'team, organization,unheard_of' }),
      ({ resource: { type } }) => type === 'team' || type === 'organization',
    ],
    ['the action', () => ({ 'filter[action]': 'lock' }), ({ resource: { action } }) => action === 'lock'],
    ['the id of who acted', () => ({ 'filter[actor]': ada.id }), ({ auth }) => auth.accessor_id === ada.id],
    ['the name of who acted', () => ({ 'filter[actor]': ada.username }), ({ auth }) => auth.accessor_id === ada.id],
    [
      'one actor by name and one by id',
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
    ['no known filter', () => ({ 'unheard-of': 'red', 'filter[actor]': '' }), () => true],
  ])('select %s', async (_, query, condition) => {
    const expected = idsWhere(condition);
    expect(expected.length).toBeGreaterThan(0);
    const page = await readTrail(reader, query());
    expect(listIds(page)).toEqual(expected);
    expect(page.pagination.total_count).toBe(expected.length);
  });

  it('return nothing if nothing matches, and nothing of another organization', async () => {
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

  it('work with pages and with since', async () => {
    const query = { 'filter[resource-type]': 'workspace', 'page[size]': '3' };
    const expected = idsWhere(({ resource: { type } }) => type === 'workspace');
    const pages = [];
    for (let next: number | null = 1; next !== null; next = pages.at(-1)?.pagination.next_page ?? null) {
      pages.push(await readTrail(reader, { ...query, 'page[number]': String(next) }));
    }
    expect(listIds(...pages)).toEqual(expected);
    expect(pages).toHaveLength(Math.ceil(expected.length / 3));
    const middle = all.find(({ id }) => id === expected[4]);
    const since = await readTrail(reader, { ...query, since: middle?.timestamp ?? '' });
    expect(listIds(since)).toEqual(expected.slice(0, 3));
    expect(since.pagination).toMatchObject({ total_count: 4, total_pages: 2 });
  });

  it('keep pages stable while new events arrive, and add newer entries for readers that resume', async () => {
    const ours = server.as(await makeOrganizationToken(server, 'rival'));
    const [workspace] = (await server.get('/api/v2/organizations/rival/workspaces')).body.data;
    for (const action of ['unlock', 'lock', 'unlock'] as const) await act(server, workspace.id, action);
    const query = { 'filter[resource-type]': 'workspace', 'page[size]': '2', since: '2026-01-01' };
    const read = (number: number) => readTrail(ours, { ...query, 'page[number]': String(number) });
    const first = await read(1);
    await act(server, workspace.id, 'lock');
    await makeTeam(server, 'rival', 'unasked');
    const [second, firstAgain] = [await read(2), await read(1)];
    expect([listActions(first), listActions(second)]).toEqual([
      ['workspace unlock', 'workspace lock'],
      ['workspace unlock', 'workspace lock'],
    ]);
    expect(listActions(firstAgain)).toEqual(['workspace lock', ...listActions(first)]);
    expect(firstAgain.pagination.total_count).toBe(first.pagination.total_count + 1);
  });

  it.each([
    ['filter[resource-type]', 'Work Space'],
    ['filter[action]', ','],
    ['filter[actor]', 'x'.repeat(501)],
    ['filter[resource-id]', 'x'.repeat(501)],
    ['until', 'tomorrow'],
  ])('return 422 with the name of %s if it is malformed', async (parameter, value) => {
    const { status, body } = await requestTrail(reader, { [parameter]: value });
    expect(status).toBe(422);
    expect(body.errors[0]).toMatchObject({ status: '422', source: { parameter } });
  });
});

describe('the until parameter', () => {
  it('returns entries up to a timestamp, including the entry of that timestamp', async () => {
    for (const [index, { timestamp: until }] of all.entries()) {
      const page = await readTrail(reader, { until });
      expect(listIds(page)).toEqual(all.slice(index).map(({ id }) => id));
      expect(page.pagination.total_count).toBe(all.length - index);
    }
  });

  it('ends a range where since starts the next one, so that adjacent ranges contain every entry once', async () => {
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

  it('accepts every format that since accepts', async () => {
    const second = all[3]?.timestamp.slice(0, 19) ?? '';
    const expected = idsWhere(({ timestamp }) => timestamp <= `${second}.999Z`);
    for (const until of [second, `${second}Z`, `${second}.999`]) {
      expect(listIds(await readTrail(reader, { until }))).toEqual(expected);
    }
    expect(await readTrail(reader, { until: '2026-01-01' })).toMatchObject({
      data: [],
      pagination: { total_count: 0 },
    });
    expect(listIds(await readTrail(reader, { until: '9999-12-31T23:59:59.999-23:59' }))).toHaveLength(all.length);
    expect(listIds(await readTrail(reader, { until: '' }))).toHaveLength(all.length);
  });

  it('works with filters and pages', async () => {
    const until = all[2]?.timestamp ?? '';
    const locks = idsWhere(({ timestamp, resource: { action } }) => timestamp <= until && action === 'lock');
    expect(listIds(await readTrail(reader, { until, 'filter[action]': 'lock', 'page[size]': '2', page: '2' }))).toEqual(
      locks.slice(2, 4),
    );
  });
});

describe('filtering by a user who was renamed', () => {
  it('finds the entries under both names', async () => {
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
