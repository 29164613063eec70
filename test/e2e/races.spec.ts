import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { moduleDefinitions } from '../../apps/modules.js';
import { waitForFollowers } from '../support/event-log.js';
import { makeOrganization, makeProject, makeToken, makeWorkspace, resource } from '../support/seeds.js';
import { startTestServer, type ApiResponse, type ApiTestClient, type TestServer } from '../support/server.js';
import { expectViewsMatchLog } from '../support/views-match-log.js';

let server: TestServer;
/** Three callers with all permissions, each under another name. */
let callers: readonly ApiTestClient[];

beforeAll(async () => {
  server = await startTestServer({ followers: true });
  const { name, ownersTeam } = await makeOrganization(server, 'acme');
  callers = [
    server,
    server.as(await makeToken(server, `/api/v2/organizations/${name}/authentication-token`)),
    server.as(await makeToken(server, `/api/v2/teams/${ownersTeam}/authentication-token`)),
  ];
});

afterAll(() => server.close());

/** Starts all requests at once, with the callers in turn. */
const race = (
  runners: number,
  run: (api: ApiTestClient, index: number) => Promise<ApiResponse>,
): Promise<ApiResponse[]> =>
  Promise.all(Array.from({ length: runners }, (_, index) => run(callers[index % callers.length] ?? server, index)));

/** Counts the responses by status. */
const tally = (answers: readonly ApiResponse[]): Record<number, number> => {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};

const details = (answers: readonly ApiResponse[], status: number): string[] => [
  ...new Set(answers.filter((answer) => answer.status === status).map(({ body }) => body.errors[0].detail as string)),
];

const typesIn = async (stream: string): Promise<string[]> =>
  (await server.store.log.stream(stream)).map(({ type }) => type);

const countCreatedWithName = async (name: string): Promise<number> =>
  (
    await server.database.row<{ n: number }>(
      sql`select count(*) as n from event_store.events where type like '%Created' and data ->> 'name' = ${name}`,
    )
  )?.n ?? -1;

describe('a hundred clients', () => {
  it('that race for one lock: one gets it, and the others get 409 with the name of the holder', async () => {
    const id = await makeWorkspace(server, 'acme', 'contested');
    const answers = await race(100, (api) => api.post(`/api/v2/workspaces/${id}/actions/lock`, { reason: 'mine' }));
    expect(tally(answers)).toEqual({ 200: 1, 409: 99 });
    const [locked] = (await server.store.log.stream(id)).filter(({ type }) => type === 'WorkspaceLocked');
    const { type, name } = (locked as unknown as { data: { holder: { type: string; name: string } } }).data.holder;
    const holder = `${type === 'teams' ? 'Team' : 'User'} ${name} since ${locked?.time}: mine`;
    expect(details(answers, 409)).toEqual([`Unable to lock workspace. The workspace is already locked by ${holder}`]);
    expect(await typesIn(id)).toEqual(['WorkspaceCreated', 'WorkspaceLocked']);
  });

  it('that race to unlock: one succeeds, and the others get 409 without a holder', async () => {
    const id = await makeWorkspace(server, 'acme', 'released');
    await server.post(`/api/v2/workspaces/${id}/actions/lock`);
    const answers = await race(100, () => server.post(`/api/v2/workspaces/${id}/actions/unlock`));
    expect(tally(answers)).toEqual({ 200: 1, 409: 99 });
    expect(details(answers, 409)).toEqual(['Unable to unlock workspace. The workspace is not locked']);
    expect(await typesIn(id)).toEqual(['WorkspaceCreated', 'WorkspaceLocked', 'WorkspaceUnlocked']);
  });

  it('that lock and unlock in turn leave a history in which each lock has its unlock', async () => {
    const id = await makeWorkspace(server, 'acme', 'busy');
    const path = (verb: string): string => `/api/v2/workspaces/${id}/actions/${verb}`;
    const answers = await race(100, async (api) => {
      const locked = await api.post(path('lock'));
      return locked.status === 200 ? api.post(path('unlock')) : locked;
    });
    expect(Object.keys(tally(answers)).toSorted()).toEqual(['200', '409']);
    const rounds = tally(answers)[200] ?? 0;
    expect(await typesIn(id)).toEqual([
      'WorkspaceCreated',
      ...Array.from({ length: rounds }, () => ['WorkspaceLocked', 'WorkspaceUnlocked']).flat(),
    ]);
  });
});

describe('a name', () => {
  it('goes to one of fifty concurrent creations of a workspace', async () => {
    const body = resource('workspaces', { name: 'popular' });
    const answers = await race(50, (api) => api.post('/api/v2/organizations/acme/workspaces', body));
    expect(tally(answers)).toEqual({ 201: 1, 422: 49 });
    expect(answers.find(({ status }) => status === 422)?.body).toEqual({
      errors: [
        {
          status: '422',
          title: 'invalid attribute',
          detail: 'Name has already been taken',
          source: { pointer: '/data/attributes/name' },
        },
      ],
    });
    expect(await countCreatedWithName('popular')).toBe(1);
  });

  it('goes to one of ten workspaces that are renamed at once', async () => {
    const names = Array.from({ length: 10 }, (_, index) => `candidate-${index}`);
    const ids = await Promise.all(names.map((name) => makeWorkspace(server, 'acme', name)));
    const body = resource('workspaces', { name: 'the-one' });
    const answers = await race(10, (api, index) => api.patch(`/api/v2/workspaces/${ids[index]}`, body));
    expect(tally(answers)).toEqual({ 200: 1, 422: 9 });
    expect(details(answers, 422)).toEqual(['Name has already been taken']);
  });

  it.each([
    ['organizations', '/api/v2/organizations', { name: 'sought-after', email: 'ops@acme.test' }],
    ['projects', '/api/v2/organizations/acme/projects', { name: 'sought after' }],
  ])('goes to one of twenty concurrent creations: %s', async (type, path, attributes) => {
    const answers = await race(20, () => server.post(path, resource(type, attributes)));
    expect(tally(answers)).toEqual({ 201: 1, 422: 19 });
    expect(details(answers, 422)).toEqual(['Name has already been taken']);
    expect(await countCreatedWithName(attributes.name)).toBe(1);
  });

  it('is free as soon as its workspace is deleted', async () => {
    const id = await makeWorkspace(server, 'acme', 'phoenix');
    expect((await server.delete(`/api/v2/workspaces/${id}`)).status).toBe(204);
    const body = resource('workspaces', { name: 'phoenix' });
    const answers = await race(20, (api) => api.post('/api/v2/organizations/acme/workspaces', body));
    expect(tally(answers)).toEqual({ 201: 1, 422: 19 });
  });
});

describe('concurrent changes of one resource', () => {
  it('of different settings are all applied', async () => {
    const id = await makeWorkspace(server, 'acme', 'shared');
    const changes: readonly object[] = [
      { description: 'changed' },
      { 'auto-apply': true },
      { 'queue-all-runs': true },
      { 'working-directory': 'infra' },
      { 'terraform-version': '1.9.0' },
      { 'speculative-enabled': false },
      { 'file-triggers-enabled': false },
      { 'allow-destroy-plan': false },
      { 'global-remote-state': true },
      { 'trigger-prefixes': ['modules'] },
    ];
    const answers = await race(10, (api, index) =>
      api.patch(`/api/v2/workspaces/${id}`, resource('workspaces', changes[index])),
    );
    expect(tally(answers)).toEqual({ 200: 10 });
    const response = await server.get(`/api/v2/workspaces/${id}`);
    expect(response.body.data.attributes).toMatchObject(Object.assign({}, ...changes));
  });

  it('that add tags lose none, and add each once', async () => {
    const id = await makeWorkspace(server, 'acme', 'tagged');
    const names = Array.from({ length: 20 }, (_, index) => `tag-${index % 10}`);
    const answers = await race(20, (api, index) =>
      api.post(`/api/v2/workspaces/${id}/relationships/tags`, {
        data: [{ type: 'tags', attributes: { name: names[index] } }],
      }),
    );
    expect(tally(answers)).toEqual({ 204: 20 });
    const response = await server.get(`/api/v2/workspaces/${id}`);
    expect(response.body.data.attributes['tag-names'].toSorted()).toEqual([...new Set(names)].toSorted());
  });

  it('that bind keys stop at ten bindings', async () => {
    const id = await makeWorkspace(server, 'acme', 'bound');
    const answers = await race(15, (api, index) =>
      api.patch(`/api/v2/workspaces/${id}/tag-bindings`, {
        data: [{ type: 'tag-bindings', attributes: { key: `key-${index}`, value: 'v' } }],
      }),
    );
    expect(tally(answers)).toEqual({ 200: 10, 422: 5 });
    expect((await server.get(`/api/v2/workspaces/${id}/tag-bindings`)).body.data).toHaveLength(10);
  });
});

describe('the only token of an organization', () => {
  it('is the last one that was created if ten are created at once, and the others are invalid', async () => {
    await makeOrganization(server, 'tokens');
    const path = '/api/v2/organizations/tokens/authentication-token';
    for (const round of ['the first', 'one that replaces another']) {
      const answers = await race(10, () => server.post(path));
      expect({ round, ...tally(answers) }).toEqual({ round, 201: 10 });
      const secrets = answers.map(({ body }) => body.data.attributes.token as string);
      const used = await Promise.all(secrets.map((secret) => server.as(secret).get('/api/v2/organizations/tokens')));
      expect({ round, ...tally(used) }).toEqual({ round, 200: 1, 401: 9 });
    }
  });
});

describe('concurrent deletions', () => {
  it('of one workspace succeed once, and the others get 404', async () => {
    const id = await makeWorkspace(server, 'acme', 'doomed');
    const answers = await race(30, (api, index) =>
      index % 2 === 0
        ? server.delete(`/api/v2/workspaces/${id}`)
        : api.post(`/api/v2/workspaces/${id}/actions/safe-delete`),
    );
    expect(tally(answers)).toEqual({ 204: 1, 404: 29 });
    expect(await typesIn(id)).toEqual(['WorkspaceCreated', 'WorkspaceDeleted']);
  });

  it('and locks of one workspace leave nothing after the deletion', async () => {
    const id = await makeWorkspace(server, 'acme', 'doomed-too');
    const answers = await race(40, (api, index) =>
      index === 20 ? server.delete(`/api/v2/workspaces/${id}`) : api.post(`/api/v2/workspaces/${id}/actions/lock`),
    );
    expect(Object.keys(tally(answers)).every((status) => ['200', '204', '404', '409'].includes(status))).toBe(true);
    expect(answers[20]?.status).toBe(204);
    expect((await typesIn(id)).at(-1)).toBe('WorkspaceDeleted');
  });

  it('of a project and creations of workspaces in it leave no workspace without its project', async () => {
    for (let round = 0; round < 10; round += 1) {
      const project = await makeProject(server, 'acme', `short-lived-${round}`);
      const inside = (name: string) =>
        resource('workspaces', { name }, { project: { data: { type: 'projects', id: project } } });
      const answers = await race(8, (api, index) =>
        index === 3
          ? server.delete(`/api/v2/projects/${project}`)
          : api.post('/api/v2/organizations/acme/workspaces', inside(`inside-${round}-${index}`)),
      );
      expect(Object.keys(tally(answers)).filter((status) => Number(status) >= 500)).toEqual([]);
      // Every created workspace can be read. A workspace without its project could not.
      for (const { body } of answers.filter(({ status }) => status === 201)) {
        expect((await server.get(`/api/v2/workspaces/${body.data.id}`)).status).toBe(200);
      }
    }
  });

  it('of an organization and other requests in it leave no rows of the organization', async () => {
    for (let round = 0; round < 10; round += 1) {
      const name = `short-lived-${round}`;
      const { id } = await makeOrganization(server, name);
      const workspace = await makeWorkspace(server, name, 'there-already');
      const path = `/api/v2/organizations/${name}`;
      const flat = { data: [{ type: 'tags', attributes: { name: 'flat' } }] };
      const attempts = [
        () => server.post(`${path}/workspaces`, resource('workspaces', { name: 'first' })),
        () => server.post(`/api/v2/workspaces/${workspace}/relationships/tags`, flat),
        () => server.post(`${path}/projects`, resource('projects', { name: 'project' })),
        () => server.post(`${path}/authentication-token`),
        () => server.delete(path),
        () => server.post(`/api/v2/workspaces/${workspace}/actions/lock`),
        () => server.patch(`/api/v2/workspaces/${workspace}`, resource('workspaces', { name: 'renamed' })),
        () => server.post(`${path}/workspaces`, resource('workspaces', { name: 'second' })),
      ];
      const answers = await Promise.all(attempts.map((attempt) => attempt()));
      expect(answers[4]?.status).toBe(204);
      expect(answers.map(({ status }) => status).filter((status) => ![200, 201, 204, 404].includes(status))).toEqual(
        [],
      );
      expect(await rowsOf(id)).toEqual({});
      expect((await server.get(`/api/v2/workspaces/${workspace}`)).status).toBe(404);
    }
  });
});

/** Returns the number of rows in each view that still has rows of an organization. */
const rowsOf = async (organization: string): Promise<Record<string, number>> => {
  const views = await server.database.rows<{ name: string }>(sql`
    select table_name as name from information_schema.columns
     where table_schema = 'views' and column_name = 'organization'`);
  expect(views.map(({ name }) => name)).toContain('workspaces');
  const counts: Record<string, number> = {};
  // Followers write these views. All others are written with the events.
  for (const follower of ['workspace_history', 'member_activities']) await waitForFollowers(server.store, follower);
  // The audit trail outlives its organization.
  for (const { name } of views.filter((view) => !view.name.startsWith('audit_trail'))) {
    const row = await server.database.row<{ n: number }>(
      sql`select count(*) as n from ${sql.raw(name)} where organization = ${organization}`,
    );
    if (row?.n) counts[name] = row.n;
  }
  return counts;
};

describe('the database after all races', () => {
  it('has views that match the log, row for row', async () => {
    await expectViewsMatchLog(server, moduleDefinitions);
  });

  it('has no gap in the versions of any stream', async () => {
    const broken = await server.database.rows(sql`
      select stream from event_store.events group by stream having max(version) <> count(*) or min(version) <> 1`);
    expect(broken).toEqual([]);
  });
});
