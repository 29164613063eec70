import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql, type RecordedEvent } from '#platform/kernel';
import { moduleDefinitions } from '../../apps/modules.js';
import { readWholeLog } from '../support/event-log.js';
import {
  expectStatus,
  flatTags,
  idOfTag,
  makeOrganization,
  makeProject,
  makeReservedTagKey,
  makeWorkspace,
  related,
  resource,
  tagBindings,
} from '../support/seeds.js';
import { startTestServer, type ApiResponse, type TestServer } from '../support/server.js';
import { expectViewsMatchLog } from '../support/views-match-log.js';

let server: TestServer;
let projects: readonly string[];

const WRITERS = 20;
const EACH = 25;
const KEYS = ['env', 'team', 'tier', 'zone'];

/** Returns a generator of random numbers that gives each writer the same sequence in every run. */
const dice = (seed: number) => {
  let state = seed * 2_654_435_761 + 12_345;
  return (sides: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * sides);
  };
};

beforeAll(async () => {
  server = await startTestServer();
  await makeOrganization(server, 'acme');
  projects = await Promise.all(['one', 'two', 'three'].map((name) => makeProject(server, 'acme', name)));
  for (let n = 0; n < 10; n += 1) await makeWorkspace(server, 'acme', `first-${n}`, {}, { tags: flatTags('first') });
  await makeReservedTagKey(server, 'acme', 'zone', { 'disable-overrides': true });
});

afterAll(() => server.close());

type Turn = { readonly roll: (sides: number) => number; readonly name: string };

const any = <T>(from: readonly T[], { roll }: Turn): T => from[roll(from.length)] as T;

/** Returns a workspace that exists at this time. Nobody deletes the first ten, so there is always one. */
const someWorkspace = async (turn: Turn, namePattern = '%'): Promise<string> => {
  const rows = await server.database.rows<{ id: string }>(
    sql`select id from workspaces where name like ${namePattern} order by id`,
  );
  return rows.length > 0 ? any(rows, turn).id : 'ws-none';
};

const bindings = (turn: Turn) => tagBindings({ [any(KEYS, turn)]: `v${turn.roll(3)}`, [any(KEYS, turn)]: turn.name });

const into = (turn: Turn) => ({ project: { data: { type: 'projects', id: any(projects, turn) } } });

const create = (turn: Turn): Promise<ApiResponse> =>
  server.post(
    '/api/v2/organizations/acme/workspaces',
    resource(
      'workspaces',
      { name: turn.name },
      { ...into(turn), tags: flatTags('first', any(KEYS, turn)), 'tag-bindings': bindings(turn) },
    ),
  );

/** Actions of the writers. An action that occurs more than once is more likely. */
const ACTIONS: readonly ((turn: Turn) => Promise<ApiResponse>)[] = [
  (turn) => server.patch(`/api/v2/projects/${any(projects, turn)}/tag-bindings`, bindings(turn)),
  (turn) => server.patch(`/api/v2/projects/${any(projects, turn)}/relationships/tag-bindings`, bindings(turn)),
  create,
  create,
  create,
  async (turn) =>
    server.patch(`/api/v2/workspaces/${await someWorkspace(turn)}`, resource('workspaces', {}, into(turn))),
  async (turn) =>
    server.post(
      `/api/v2/projects/${any(projects, turn)}/relationships/workspaces`,
      related('workspaces', await someWorkspace(turn), await someWorkspace(turn)),
    ),
  async (turn) => server.patch(`/api/v2/workspaces/${await someWorkspace(turn)}/tag-bindings`, bindings(turn)),
  async (turn) =>
    server.patch(
      `/api/v2/workspaces/${await someWorkspace(turn)}`,
      resource('workspaces', {}, { 'tag-bindings': bindings(turn) }),
    ),
  async (turn) =>
    server.post(
      `/api/v2/workspaces/${await someWorkspace(turn)}/relationships/tags`,
      flatTags('added', any(KEYS, turn)),
    ),
  async (turn) =>
    server.delete(`/api/v2/workspaces/${await someWorkspace(turn)}/relationships/tags`, flatTags(any(KEYS, turn))),
  async (turn) =>
    server.post(
      `/api/v2/tags/${await idOfTag(server, 'acme', 'first')}/relationships/workspaces`,
      related('workspaces', await someWorkspace(turn), await someWorkspace(turn)),
    ),
  async (turn) => server.delete(`/api/v2/workspaces/${await someWorkspace(turn, 'w-%')}`),
];

const write = async (writer: number): Promise<number[]> => {
  const roll = dice(writer);
  const statuses: number[] = [];
  for (let n = 0; n < EACH; n += 1) {
    const action = ACTIONS[roll(ACTIONS.length)] as (typeof ACTIONS)[number];
    statuses.push((await action({ roll, name: `w-${writer}-${n}` })).status);
  }
  return statuses;
};

type Tags = Map<string, string | null>;

/** Computes tags from the events, independently of the product's rules. */
const recount = (log: readonly RecordedEvent[]) => {
  const homes = new Map<string, string>();
  const tags = new Map<string, Tags>();
  const tagsOf = (stream: string): Tags => {
    if (!tags.has(stream)) tags.set(stream, new Map());
    return tags.get(stream) as Tags;
  };
  for (const { type, stream, data } of log as readonly (RecordedEvent & { readonly data: any })[]) {
    if (type === 'WorkspaceCreated') {
      homes.set(stream, data.project);
      for (const { key, value } of data.tags) tagsOf(stream).set(key, value);
    }
    if (type === 'WorkspaceMoved') homes.set(stream, data.to);
    if (type === 'WorkspaceDeleted') homes.delete(stream);
    if (type === 'WorkspaceTagAdded') tagsOf(stream).set(data.name, null);
    if (type === 'WorkspaceTagRemoved') tagsOf(stream).delete(data.name);
    if (type === 'WorkspaceTagBound' || type === 'ProjectTagBound') tagsOf(stream).set(data.key, data.to);
    if (type === 'WorkspaceTagUnbound' || type === 'ProjectTagUnbound') tagsOf(stream).delete(data.key);
  }
  return [...homes].map(([id, home]) => {
    const own = tagsOf(id);
    const inherited = [...tagsOf(home)].filter(([key]) => !own.has(key));
    // A flat tag is an effective binding only if it overrides a binding of the project.
    const bound = [...own].filter(([key, value]) => value !== null || tagsOf(home).has(key));
    return { id, home, own, effective: [...own, ...inherited], bound: [...bound, ...inherited] };
  });
};

type Counted = ReturnType<typeof recount>[number];

const pairsIn = ({ body }: ApiResponse): unknown[] =>
  body.data.map(({ attributes }: { attributes: { key: string; value: string } }) => [attributes.key, attributes.value]);

const expectListed = async (query: string, expectedWorkspaces: readonly Counted[]): Promise<void> => {
  const ids: string[] = [];
  let next: string | null = `/api/v2/organizations/acme/workspaces?page[size]=100&${query}`;
  while (next !== null) {
    const { body }: ApiResponse = expectStatus(await server.get(next), 200);
    expect([query, body.meta.pagination['total-count']]).toEqual([query, expectedWorkspaces.length]);
    ids.push(...body.data.map(({ id }: { id: string }) => id));
    next = body.links.next;
  }
  expect(ids.toSorted()).toEqual(expectedWorkspaces.map(({ id }) => id).toSorted());
};

describe('twenty writers that bind, tag, move, create and delete at once', () => {
  let statuses: readonly number[];
  let counted: readonly Counted[];

  beforeAll(async () => {
    statuses = (await Promise.all(Array.from({ length: WRITERS }, (_, n) => write(n + 1)))).flat();
    counted = recount(await readWholeLog(server.store));
  });

  it('get no error except 404 for deleted workspaces and 422 for reserved keys', () => {
    expect(statuses.filter((status) => ![200, 201, 204, 404, 422].includes(status))).toEqual([]);
    expect(statuses).toEqual(expect.arrayContaining([200, 201, 204, 422]));
    expect(counted.length).toBeGreaterThan(20);
  });

  it('leave each workspace with the tags that its events and those of its project yield', async () => {
    for (const { id, home, bound } of counted) {
      const { body } = expectStatus(await server.get(`/api/v2/workspaces/${id}`), 200);
      expect(body.data.relationships.project.data.id).toBe(home);
      const response = expectStatus(await server.get(`/api/v2/workspaces/${id}/effective-tag-bindings`), 200);
      expect(pairsIn(response)).toEqual(bound.map(([key, value]) => [key, value ?? '']));
    }
  });

  it('leave the right count of each tag', async () => {
    const flat = counted.flatMap(({ own }) => [...own].flatMap(([key, value]) => (value === null ? [key] : [])));
    const expected = [...new Set(flat)].toSorted().map((name) => [name, flat.filter((other) => other === name).length]);
    const { body } = expectStatus(await server.get('/api/v2/organizations/acme/tags?page[size]=100'), 200);
    type Entry = { readonly attributes: { readonly name: string; readonly 'instance-count': number } };
    const actual = body.data.map(({ attributes }: Entry) => [attributes.name, attributes['instance-count']]);
    expect(actual).toEqual(expected);
  });

  it('leave lists that find the right workspaces by tag', async () => {
    await expectListed('', counted);
    for (const key of KEYS) {
      const having = (value?: string) =>
        counted.filter(({ effective }) => effective.some((tag) => tag[0] === key && (value ?? tag[1]) === tag[1]));
      await expectListed(`filter[tagged][0][key]=${key}`, having());
      await expectListed(`filter[tagged][0][key]=${key}&filter[tagged][0][value]=v1`, having('v1'));
      const both = having().filter(({ effective }) => effective.some(([other]) => other === 'env'));
      await expectListed(`filter[tagged][0][key]=${key}&filter[tagged][5][key]=env`, both);
    }
  });

  it('leave views that match the log', async () => {
    await expectViewsMatchLog(server, moduleDefinitions);
  });
});
