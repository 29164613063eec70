import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { costOf } from '../../../../test/support/cost.js';
import { logLength } from '../../../../test/support/event-log.js';
import { runBetween } from '../../../../test/support/interleaving.js';
import {
  expectStatus,
  grantProjectAccess,
  grantWorkspaceAccess,
  makeMember,
  makeOrganization,
  makeProject,
  makeTeam,
  makeWorkspace,
  related,
  resource,
  type SeededMember,
} from '../../../../test/support/seeds.js';
import {
  startTestServer,
  type ApiResponse,
  type ApiTestClient,
  type TestServer,
} from '../../../../test/support/server.js';
import { expectViewsMatchLog } from '../../../../test/support/views-match-log.js';
import { workspacesDefinition } from '../index.js';

let server: TestServer;
let count = 0;
const unique = (name: string): string => `${name}-${(count += 1)}`;

beforeAll(async () => {
  server = await startTestServer();
  await makeOrganization(server, 'acme');
});

afterAll(() => server.close());

const inProject = (id: string) => ({ project: { data: { type: 'projects', id } } });
const aWorkspace = (attributes: object = {}, relationships: object = {}, name = unique('workspace')): Promise<string> =>
  makeWorkspace(server, 'acme', name, attributes, relationships);
const someWorkspaces = async (...names: readonly string[]): Promise<string[]> => {
  const ids: string[] = [];
  for (const name of names) ids.push(await aWorkspace({}, {}, unique(name)));
  return ids;
};

const pathOf = (id: string): string => `/api/v2/workspaces/${id}/relationships/remote-state-consumers`;
const body = (...ids: readonly string[]): object => related('workspaces', ...ids);
const add = (id: string, ...consumers: readonly string[]): Promise<ApiResponse> =>
  server.post(pathOf(id), body(...consumers));

const idsIn = ({ body: { data } }: ApiResponse): string[] => data.map(({ id }: { id: string }) => id);
const consumersOf = async (id: string, query = '', api: ApiTestClient = server): Promise<string[]> =>
  idsIn(expectStatus(await api.get(`${pathOf(id)}${query}`), 200));
const update = async (id: string, attributes: object): Promise<void> => {
  expectStatus(await server.patch(`/api/v2/workspaces/${id}`, resource('workspaces', attributes)), 200);
};
const eventsOf = async (id: string) =>
  (await server.store.log.stream(id)).slice(1).map(({ type, data }) => [type, data]);
const problemsOf = (answer: ApiResponse): [pointer: string, detail: string][] =>
  expectStatus(answer, 422).body.errors.map((error: any) => [error.source?.pointer, error.detail]);

const memberWith = async (give: (team: string) => Promise<unknown>): Promise<SeededMember> => {
  const team = await makeTeam(server, 'acme', unique('team'));
  await give(team);
  return makeMember(server, 'acme', unique('member'), [team]);
};

describe('the list of consumers', () => {
  it('is empty for a new workspace, and then has the added workspaces, by name', async () => {
    const [one, second, first] = (await someWorkspaces('one', 'second', 'first')) as [string, string, string];
    expect(await consumersOf(one)).toEqual([]);
    const answer = expectStatus(await add(one, second, first), 204);
    expect(answer.text).toBe('');
    expect(await consumersOf(one)).toEqual([first, second]);
    expect(await eventsOf(one)).toEqual([['RemoteStateConsumersAdded', { workspaces: [second, first] }]]);
  });

  it('has the documents of the workspaces’ own endpoints', async () => {
    const [one, second] = (await someWorkspaces('one', 'second')) as [string, string];
    expectStatus(await add(one, second), 204);
    const workspace = expectStatus(await server.get(`/api/v2/workspaces/${second}`), 200).body.data;
    expect(expectStatus(await server.get(pathOf(one)), 200).body.data).toEqual([workspace]);
  });

  it('is paged, with one statement for each page', async () => {
    const [one, ...otherIds] = (await someWorkspaces('one', 'a', 'b', 'c', 'd', 'e')) as [string, ...string[]];
    expectStatus(await add(one, ...otherIds), 204);
    const page = expectStatus(await server.get(`${pathOf(one)}?page[number]=2&page[size]=2`), 200);
    expect(idsIn(page)).toEqual(otherIds.slice(2, 4));
    expect(page.body.meta.pagination).toEqual({
      'current-page': 2,
      'page-size': 2,
      'prev-page': 1,
      'next-page': 3,
      'total-pages': 3,
      'total-count': 5,
    });
    const past = expectStatus(await server.get(`${pathOf(one)}?page[number]=9`), 200);
    expect([idsIn(past), past.body.meta.pagination['total-count']]).toEqual([[], 5]);
    for (const query of ['', '?page[size]=1', '?page[size]=100&show_only_configured=true']) {
      const { status, statements } = await costOf(server, () => server.get(`${pathOf(one)}${query}`));
      expect([query, status, statements]).toEqual([query, 200, 1]);
    }
  });

  it('has all other workspaces of the organization while the state is shared globally, and on request only the configured ones', async () => {
    await makeOrganization(server, 'globe');
    const create = (name: string, attributes: object = {}) => makeWorkspace(server, 'globe', name, attributes);
    const [a, b, c] = [await create('a'), await create('b'), await create('c')];
    expectStatus(await add(b, c), 204);
    await update(b, { 'global-remote-state': true });
    expect(await consumersOf(b)).toEqual([a, c]);
    expect(await consumersOf(b, '?show_only_configured=true')).toEqual([]);
    expect(await consumersOf(b, '?show_only_configured=false')).toEqual([a, c]);
    const page = expectStatus(await server.get(`${pathOf(b)}?page[size]=1&page[number]=2`), 200);
    expect([idsIn(page), page.body.meta.pagination['total-count']]).toEqual([[c], 2]);
  });

  it.each(['global-remote-state', 'project-remote-state'])(
    'is cleared when %s is switched on, so only names added later count after it is switched off',
    async (setting) => {
      const [one, a, b] = (await someWorkspaces('one', 'a', 'b')) as [string, string, string];
      expectStatus(await add(one, a, b), 204);
      // As terraform-provider-tfe 0.79 sends it: both settings each time, and only the names that its state lacks.
      const off = { 'global-remote-state': false, 'project-remote-state': false };
      await update(one, { ...off, description: 'still named' });
      expect(await consumersOf(one)).toEqual([a, b]);
      await update(one, { ...off, [setting]: true });
      await update(one, off);
      expectStatus(await add(one, a), 204);
      expect(await consumersOf(one)).toEqual([a]);
      expect(await eventsOf(one)).toEqual([
        ['RemoteStateConsumersAdded', { workspaces: [a, b] }],
        ['WorkspaceUpdated', { changes: { description: 'still named' } }],
        ['WorkspaceUpdated', { changes: expect.objectContaining({}) }],
        ['RemoteStateConsumersRemoved', { workspaces: expect.arrayContaining([a, b]) }],
        ['WorkspaceUpdated', { changes: expect.objectContaining({}) }],
        ['RemoteStateConsumersAdded', { workspaces: [a] }],
      ]);
    },
  );

  it('has the workspaces of the project while the state is shared there, and on request only the configured ones', async () => {
    const [here, there] = [
      await makeProject(server, 'acme', unique('here')),
      await makeProject(server, 'acme', unique('there')),
    ];
    const one = await aWorkspace({ 'project-remote-state': true }, inProject(here), unique('m'));
    const near = await aWorkspace({}, inProject(here), unique('n'));
    const far = await aWorkspace({}, inProject(there), unique('f'));
    expect(await consumersOf(one)).toEqual([near]);
    expectStatus(await add(one, far, near), 204);
    expect(await consumersOf(one)).toEqual([near]);
    const page = expectStatus(await server.get(`${pathOf(one)}?page[size]=1`), 200);
    expect(page.body.meta.pagination['total-count']).toBe(1);
    expect(await consumersOf(one, '?show_only_configured=true')).toEqual([far, near]);
    expectStatus(await server.delete(pathOf(one), body(near)), 204);
    expect(await consumersOf(one)).toEqual([near]);
    expect(await consumersOf(one, '?show_only_configured=true')).toEqual([far]);
    await update(one, { 'project-remote-state': false });
    expect(await consumersOf(one)).toEqual([far]);
  });

  it('shows and counts only workspaces that the caller may read', async () => {
    await makeOrganization(server, 'partly');
    const create = (name: string) => makeWorkspace(server, 'partly', name);
    const [one, visible, hidden, another] = [
      await create('one'),
      await create('visible'),
      await create('hidden'),
      await create('x'),
    ];
    expectStatus(await add(one, visible, hidden), 204);
    const team = await makeTeam(server, 'partly', 'team');
    for (const workspace of [one, visible, another]) await grantWorkspaceAccess(server, team, workspace, 'read');
    const member = await makeMember(server, 'partly', unique('member'), [team]);
    const listed = async (query = '') => {
      const page = expectStatus(await member.get(`${pathOf(one)}${query}`), 200);
      return [idsIn(page), page.body.meta.pagination['total-count']];
    };
    expect(await listed()).toEqual([[visible], 1]);
    expect(expectStatus(await server.get(pathOf(one)), 200).body.meta.pagination['total-count']).toBe(2);
    await update(one, { 'global-remote-state': true });
    expect(await listed()).toEqual([[visible, another], 2]);
    expect(await listed('?page[size]=1&page[number]=2')).toEqual([[another], 2]);
    await update(one, { 'global-remote-state': false, 'project-remote-state': true });
    expectStatus(await add(one, visible, hidden), 204);
    expect(await listed('?show_only_configured=true')).toEqual([[visible], 1]);
    expectStatus(await member.get(pathOf(hidden)), 404);
  });
});

describe('adding and removing consumers', () => {
  it('ignores workspaces that are already added or already removed', async () => {
    const [one, a, b] = (await someWorkspaces('one', 'a', 'b')) as [string, string, string];
    expectStatus(await add(one, a), 204);
    expectStatus(await add(one, a, b, b), 204);
    const length = await logLength(server.store);
    expectStatus(await add(one, a), 204);
    expectStatus(await add(one), 204);
    expect(await logLength(server.store)).toBe(length);
    expectStatus(await server.delete(pathOf(one), body(a)), 204);
    expectStatus(await server.delete(pathOf(one), body(a, b)), 204);
    expect(await consumersOf(one)).toEqual([]);
    expect(await eventsOf(one)).toEqual([
      ['RemoteStateConsumersAdded', { workspaces: [a] }],
      ['RemoteStateConsumersAdded', { workspaces: [b] }],
      ['RemoteStateConsumersRemoved', { workspaces: [a] }],
      ['RemoteStateConsumersRemoved', { workspaces: [b] }],
    ]);
  });

  it('reads only the ids if whole workspaces are sent, also without their type', async () => {
    const [one, a, b] = (await someWorkspaces('one', 'a', 'b')) as [string, string, string];
    const workspace = expectStatus(await server.get(`/api/v2/workspaces/${a}`), 200).body.data;
    expectStatus(await server.post(pathOf(one), { data: [workspace, { type: '', id: b }] }), 204);
    expect(await consumersOf(one)).toEqual([a, b]);
  });

  it.each(['post', 'patch'] as const)(
    'reports every invalid item by its position, and changes nothing (%s)',
    async (method) => {
      const [one, a] = (await someWorkspaces('one', 'a')) as [string, string];
      const otherOrganization = unique('other');
      await makeOrganization(server, otherOrganization);
      const foreign = await makeWorkspace(server, otherOrganization, 'theirs');
      const length = await logLength(server.store);
      expect(problemsOf(await server[method](pathOf(one), body(a, one, 'ws-none', foreign)))).toEqual([
        ['/data/1/id', 'A workspace cannot be its own remote state consumer'],
        ['/data/2/id', 'Workspace ws-none does not exist'],
        ['/data/3/id', `Workspace ${foreign} does not exist`],
      ]);
      expect(await logLength(server.store)).toBe(length);
      expect(await consumersOf(one)).toEqual([]);
    },
  );

  it('removes none if one of them does not exist; the workspace itself needs no removal', async () => {
    const [one, a] = (await someWorkspaces('one', 'a')) as [string, string];
    expectStatus(await add(one, a), 204);
    expect(problemsOf(await server.delete(pathOf(one), body(a, 'ws-none')))).toEqual([
      ['/data/1/id', 'Workspace ws-none does not exist'],
    ]);
    expectStatus(await server.delete(pathOf(one), body(one)), 204);
    expect(await consumersOf(one)).toEqual([a]);
  });

  it.each(['post', 'patch', 'delete'] as const)('requires a list of workspaces (%s)', async (method) => {
    const [one] = (await someWorkspaces('one')) as [string];
    const send = (input?: unknown) => server[method](pathOf(one), input);
    for (const wrong of [undefined, {}, { data: 7 }, { data: { type: 'workspaces', id: one } }]) {
      expect(problemsOf(await send(wrong))[0]?.[0]).toBe('/data');
    }
    expect(problemsOf(await send({ data: [{ type: 'workspaces' }] }))[0]?.[0]).toBe('/data/0/id');
    expect(problemsOf(await send({ data: [{ type: 'workspaces', id: 7 }] }))[0]?.[0]).toBe('/data/0/id');
    expect(problemsOf(await send(related('projects', 'prj-1')))[0]).toEqual([
      '/data/0/type',
      'Type must be workspaces',
    ]);
    const many = Array.from({ length: 1_001 }, (_, index) => `ws-${index}`);
    expect(problemsOf(await send(body(...many)))[0]?.[1]).toContain('at most 1000');
    expectStatus(await server[method](pathOf('ws-none'), body(one)), 404);
  });

  it.each(['post', 'patch', 'delete'] as const)(
    'is refused while the whole organization may read the state (%s)',
    async (method) => {
      const [one, a] = (await someWorkspaces('one', 'a')) as [string, string];
      await update(one, { 'global-remote-state': true });
      expect(problemsOf(await server[method](pathOf(one), body(a)))).toEqual([
        ['/data', 'Remote state consumers cannot be changed when global remote state sharing is enabled'],
      ]);
      expect(await consumersOf(one, '?show_only_configured=true')).toEqual([]);
    },
  );

  it('requires admin access, and read access to the consumers', async () => {
    const [one, a, hidden] = (await someWorkspaces('one', 'a', 'hidden')) as [string, string, string];
    const admin = await memberWith(async (team) => {
      await grantWorkspaceAccess(server, team, one, 'admin');
      await grantWorkspaceAccess(server, team, a, 'read');
    });
    expectStatus(await admin.post(pathOf(one), body(a)), 204);
    expect(problemsOf(await admin.post(pathOf(one), body(hidden)))).toEqual([
      ['/data/0/id', `Workspace ${hidden} does not exist`],
    ]);
    expectStatus(await add(one, hidden), 204);
    expect(problemsOf(await admin.delete(pathOf(one), body(a, hidden)))).toEqual([
      ['/data/1/id', `Workspace ${hidden} does not exist`],
    ]);
    expectStatus(await admin.patch(pathOf(one), body(a)), 404);
    expectStatus(await admin.delete(pathOf(one), body(a)), 204);
    expect(await consumersOf(one)).toEqual([hidden]);
    const writer = await memberWith((team) => grantWorkspaceAccess(server, team, one, 'write'));
    for (const method of ['post', 'patch', 'delete'] as const) {
      expectStatus(await writer[method](pathOf(one), body(one)), 404);
      expectStatus(await admin[method](pathOf(hidden), body(one)), 404);
    }
  });

  it('costs two round trips for any number of consumers', async () => {
    const [one, ...otherIds] = (await someWorkspaces('one', 'a', 'b', 'c')) as [string, ...string[]];
    const added = await costOf(server, () => add(one, ...otherIds));
    expect(added).toMatchObject({ status: 204, roundTrips: 2 });
  });
});

describe('replacing the list of consumers', () => {
  it('leaves the consumers of the request, in one append', async () => {
    const [one, a, b, c] = (await someWorkspaces('one', 'a', 'b', 'c')) as [string, string, string, string];
    expectStatus(await add(one, a, b), 204);
    expectStatus(await server.patch(pathOf(one), body(c, b)), 204);
    expect(await consumersOf(one)).toEqual([b, c]);
    const [, , removal, addition] = await server.store.log.stream(one);
    expect([removal, addition]).toMatchObject([
      { type: 'RemoteStateConsumersRemoved', data: { workspaces: [a] } },
      { type: 'RemoteStateConsumersAdded', data: { workspaces: [c] } },
    ]);
    expect(removal?.transaction).toBe(addition?.transaction);
    expectStatus(await server.patch(pathOf(one), body()), 204);
    expect(await consumersOf(one)).toEqual([]);
  });

  it('requires the permission to manage all workspaces', async () => {
    const [one, a] = (await someWorkspaces('one', 'a')) as [string, string];
    const project = expectStatus(await server.get(`/api/v2/workspaces/${one}`), 200).body.data.relationships.project
      .data;
    const maintainer = await memberWith((team) => grantProjectAccess(server, team, project.id as string, 'admin'));
    expectStatus(await maintainer.patch(pathOf(one), body(a)), 404);
    const managers = await makeTeam(server, 'acme', unique('team'), {
      'organization-access': { 'manage-workspaces': true },
    });
    const manager = await makeMember(server, 'acme', unique('manager'), [managers]);
    expectStatus(await manager.patch(pathOf(one), body(a)), 204);
    expect(await consumersOf(one)).toEqual([a]);
  });

  it('by 20 callers at once leaves the complete list of one of them', async () => {
    const [one, ...otherIds] = (await someWorkspaces('one', 'a', 'b', 'c', 'd', 'e', 'f')) as [string, ...string[]];
    const lists = Array.from(
      { length: 20 },
      (_, n) => [otherIds[n % 6], otherIds[(n + 1 + (n % 3)) % 6]] as [string, string],
    );
    const answers = await Promise.all(lists.map((list) => server.patch(pathOf(one), body(...list))));
    expect(answers.map(({ status }) => status)).toEqual(lists.map(() => 204));
    const consumers = await consumersOf(one);
    expect(lists.map((list) => list.toSorted().join())).toContain(consumers.toSorted().join());
    await expectViewsMatchLog(server, [workspacesDefinition]);
  });
});

describe('consumers', () => {
  it('of each other, added at the same time, do not deadlock', async () => {
    const all = await someWorkspaces('a', 'b', 'c', 'd');
    const pairs = all.flatMap((one) => all.filter((other) => other !== one).map((other) => [one, other] as const));
    const answers = await Promise.all(pairs.map(([one, other]) => add(one, other)));
    expect(answers.map(({ status }) => status)).toEqual(pairs.map(() => 204));
    for (const one of all) expect((await consumersOf(one)).length).toBe(3);
  });

  it('stay the same in another project', async () => {
    const [one, a] = (await someWorkspaces('one', 'a')) as [string, string];
    expectStatus(await add(one, a), 204);
    const project = await makeProject(server, 'acme', unique('project'));
    for (const id of [one, a]) {
      expectStatus(await server.patch(`/api/v2/workspaces/${id}`, resource('workspaces', {}, inProject(project))), 200);
    }
    expect(await consumersOf(one)).toEqual([a]);
  });

  it('leave no rows if either workspace is deleted for good, or the organization', async () => {
    const name = unique('going');
    await makeOrganization(server, name);
    const ids: string[] = [];
    for (const one of ['a', 'b', 'c']) ids.push(await makeWorkspace(server, name, one));
    const [a, b, c] = ids as [string, string, string];
    const rows = () =>
      server.database.rows(sql`
        select workspace, consumer from remote_state_consumers where workspace = any (${ids}::text[])
         order by workspace = ${a} desc, consumer`);
    expectStatus(await add(a, b), 204);
    expectStatus(await add(a, c), 204);
    expectStatus(await add(b, a), 204);
    expectStatus(await server.delete(`/api/v2/workspaces/${b}`), 204);
    expect(await consumersOf(a)).toEqual([c]);
    expectStatus(await server.delete(`/api/v2/recoverable-items/${b}`), 204);
    expect(await rows()).toEqual([{ workspace: a, consumer: c }]);
    expectStatus(await server.delete(`/api/v2/organizations/${name}`), 204);
    expect(await rows()).toEqual([]);
    await expectViewsMatchLog(server, [workspacesDefinition]);
  });

  it('are not added to a workspace that is deleted at the same time', async () => {
    const [one, a] = (await someWorkspaces('one', 'a')) as [string, string];
    runBetween(server.store, () => server.delete(`/api/v2/workspaces/${a}`));
    expect(problemsOf(await add(one, a))).toEqual([['/data/0/id', `Workspace ${a} does not exist`]]);
    expect(await server.database.rows(sql`select 1 from remote_state_consumers where consumer = ${a}`)).toEqual([]);
  });
});
