import { request } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { rebuildView, listViews, type RebuildableView } from '#storage/event-store';
import { createRuntime, type Runtime } from '../../apps/runtime.js';
import { moduleDefinitions } from '../../apps/modules.js';
import { META } from '../../libs/activity/facts/spec.js';
import { runBetween, meanwhileShown } from '../support/interleaving.js';
import {
  expectStatus,
  bindTags,
  flatTags,
  makeAgentPool,
  makeAgentToken,
  makeConfigurationVersion,
  makeMember,
  makeOrganization,
  makeOrganizationToken,
  makeProject,
  makeRun,
  makeTeam,
  makeToken,
  makeWorkspace,
  reportBody,
  resource,
  type SeededMember,
  type SeededOrganization,
} from '../support/seeds.js';
import {
  startAnotherGateway,
  startTestServer,
  type ApiResponse,
  type ApiTestClient,
  type TestServer,
} from '../support/server.js';
import { newStateVersion, stateFile } from '../support/state-file.js';
import { expectViewsMatchLog } from '../support/views-match-log.js';

// Forgets a person who has used every feature. Then each table and each response is searched for their names and
// addresses.

const NAME = 'zerlinda';
const RENAMED = 'quetzal';
const WISHED_EMAIL = 'nightingale@people.test';
/** Another address of this machine: all of 127.0.0.0/8 is local. */
const ADDRESS = '127.45.67.89';
const PROGRAM = 'mockingbird/7.1';
const TEXTS = [NAME, RENAMED, WISHED_EMAIL, ADDRESS, PROGRAM];

const findTexts = (text: string): string[] => TEXTS.filter((one) => text.toLowerCase().includes(one));

let server: TestServer;
let acme: SeededOrganization;
let person: SeededMember;
let trail: ApiTestClient;
let workspace: string;
let lockedWorkspace: string;
let run: string;

/** Returns a client of the same caller with another address and user agent. */
const from = ({ token }: { readonly token: string | null }): ApiTestClient => {
  const send = (method: string, path: string, body?: unknown): Promise<ApiResponse> =>
    new Promise((resolve, reject) => {
      const sent = request(
        new URL(path, server.url),
        {
          method,
          localAddress: ADDRESS,
          headers: {
            ...(token === null ? {} : { authorization: `Bearer ${token}` }),
            'user-agent': PROGRAM,
            'content-type': 'application/vnd.api+json',
          },
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('end', () => {
            const text = Buffer.concat(chunks).toString();
            const isJson = (response.headers['content-type'] ?? '').includes('json');
            const headers = new Headers(response.headers as Record<string, string>);
            resolve({
              text,
              body: isJson && text ? JSON.parse(text) : null,
              headers,
              status: response.statusCode ?? 0,
            });
          });
        },
      );
      sent.on('error', reject);
      sent.end(body === undefined || body instanceof Uint8Array ? body : JSON.stringify(body));
    });
  return {
    get: (path) => send('GET', path),
    post: (path, body) => send('POST', path, body),
    patch: (path, body) => send('PATCH', path, body),
    put: (path, body) => send('PUT', path, body),
    delete: (path, body) => send('DELETE', path, body),
    as: (token) => from({ token: token as string | null }),
  };
};

const lock = (api: ApiTestClient, id: string): Promise<ApiResponse> =>
  api.post(`/api/v2/workspaces/${id}/actions/lock`, { reason: 'mine' });
const act = (api: ApiTestClient, id: string, action: string): Promise<ApiResponse> =>
  api.post(`/api/v2/workspaces/${id}/actions/${action}`);

/**
 * Uses every feature as the person: organizations, invitations, locks, uploads, runs, comments, tags, teams, tokens and
 * variables. One lock stays.
 */
const useEveryFeature = async (): Promise<void> => {
  const api = from(person);
  const account = { username: RENAMED, email: WISHED_EMAIL };
  expectStatus(await api.patch('/api/v2/account/details', resource('users', account)), 200);
  await makeMember(server, 'acme', 'bob', [acme.ownersTeam]);
  const project = await makeProject(api, 'acme', 'theirs');
  await bindTags(api, `projects/${project}`, { team: 'core' });
  const pool = await makeAgentPool(api, 'acme', 'edge');
  const agents = server.as(await makeAgentToken(api, pool));
  workspace = await makeWorkspace(api, 'acme', 'busy', { 'execution-mode': 'agent', 'agent-pool-id': pool });
  lockedWorkspace = await makeWorkspace(api, 'acme', 'held', { description: 'x'.repeat(2_000) });
  await bindTags(api, `workspaces/${workspace}`, { env: 'prod' });
  expectStatus(await api.post(`/api/v2/workspaces/${workspace}/relationships/tags`, flatTags('flat')), 204);
  expectStatus(await lock(api, workspace), 200);
  const state = newStateVersion(stateFile(), { inline: true });
  expectStatus(await api.post(`/api/v2/workspaces/${workspace}/state-versions`, state), 201);
  expectStatus(await act(api, workspace, 'unlock'), 200);
  const configuration = await makeConfigurationVersion(api, workspace);
  const link = expectStatus(await api.get(`/api/v2/configuration-versions/${configuration}/download`), 302);
  // They follow the link from their own address, without a token.
  expectStatus(await api.as(null).get(new URL(link.headers.get('location') ?? '').pathname), 200);
  run = await makeRun(api, workspace);
  expectStatus(await api.post(`/api/v2/runs/${run}/comments`, resource('comments', { body: 'looks good' })), 201);
  for (const status of ['planning', 'planned']) {
    const more = status === 'planned' ? { 'has-changes': true } : {};
    expectStatus(await agents.post(`/api/v2/runs/${run}/progress`, reportBody(status, more)), 200);
  }
  expectStatus(await api.post(`/api/v2/runs/${run}/actions/apply`, { comment: 'go' }), 202);
  for (const status of ['applying', 'applied']) {
    expectStatus(await agents.post(`/api/v2/runs/${run}/progress`, reportBody(status)), 200);
  }
  const team = await makeTeam(api, 'acme', 'core');
  await makeMember(server, 'acme', 'carol', [team]);
  const users = { data: [{ type: 'users', id: RENAMED }] };
  expectStatus(await api.post(`/api/v2/teams/${team}/relationships/users`, users), 204);
  await makeToken(api, `/api/v2/teams/${team}/authentication-token`);
  await makeToken(api, `/api/v2/users/${person.id}/authentication-tokens`);
  const variable = resource('vars', { key: 'region', value: 'eu', category: 'env' });
  expectStatus(await api.post(`/api/v2/workspaces/${workspace}/vars`, variable), 201);
  // The administrator breaks a lock of theirs, and they break a lock of the administrator. Then they lock another
  // workspace, which stays locked.
  expectStatus(await lock(api, workspace), 200);
  expectStatus(await act(server, workspace, 'force-unlock'), 200);
  expectStatus(await lock(server, workspace), 200);
  expectStatus(await act(api, workspace, 'force-unlock'), 200);
  expectStatus(await lock(api, lockedWorkspace), 200);
  expectStatus(
    await server.patch(`/api/v2/workspaces/${lockedWorkspace}`, resource('workspaces', { description: 'y' })),
    200,
  );
  // Facts of another service about them, once as a person and once as a system.
  const fact = (id: string, type: string, about: object): object => ({
    source: 'https://idp.example',
    id,
    time: new Date().toISOString(),
    auth: { accessor_id: person.id, description: NAME, type, impersonator_id: null },
    request: { id: null },
    resource: { id: 'fact', ...about },
  });
  const canceled = { ...META['policy_check.canceled'], actor: NAME };
  const facts = [
    fact('f1', 'Client', { type: 'stack', action: 'create', meta: null }),
    fact('f2', 'System', { type: 'policy_check', action: 'canceled', meta: canceled }),
  ];
  expectStatus(await trail.post('/api/v2/organizations/acme/audit-facts', { facts }), 201);
};

/** Returns everything that an owner of the organization can read. */
const readEverything = async (): Promise<ReadonlyMap<string, string>> => {
  const paths = [
    '/api/v2/organizations/acme/workspaces?include=locked_by,current_run,effective_tag_bindings',
    '/api/v2/organizations/acme/locks',
    '/api/v2/organizations/acme/runs',
    '/api/v2/organizations/acme/teams?include=users,organization-memberships',
    '/api/v2/organizations/acme/organization-memberships?include=user',
    '/api/v2/organizations/acme/tags',
    ...[workspace, lockedWorkspace].flatMap((id) =>
      [
        '',
        '/history',
        '/lock-history',
        '/tag-bindings',
        '/vars',
        '/state-versions?include=created_by',
        '/configuration-versions',
      ].map((rest) => `/api/v2/workspaces/${id}${rest}`),
    ),
    `/api/v2/workspaces/${workspace}/runs?include=created_by,comments,plan`,
    `/api/v2/workspaces/${workspace}/tag-bindings`,
    ...['', '/comments', '/run-events?include=actor'].map((rest) => `/api/v2/runs/${run}${rest}`),
  ];
  const answers = new Map<string, string>();
  for (const path of paths) answers.set(path, expectStatus(await server.get(path), 200).text);
  return answers;
};

type Entry = {
  readonly id: string;
  readonly timestamp: string;
  readonly auth: { readonly accessor_id: string; readonly description: string };
  readonly request: { readonly address: string | null; readonly user_agent: string | null };
  readonly resource: { readonly type: string; readonly action: string; readonly meta: Record<string, unknown> | null };
};

const entries = async (query = ''): Promise<readonly Entry[]> =>
  expectStatus(await trail.get(`/api/v2/organization/audit-trail${query}`), 200).body.data;

/** Returns all rows of all tables as text. */
const tables = async (): Promise<ReadonlyMap<string, string>> => {
  const names = await server.database.rows<{ name: string }>(sql`
    select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname not in ('pg_catalog', 'information_schema') order by 1`);
  const dump = new Map<string, string>();
  for (const { name } of names) {
    const row = await server.database.row<{ text: string | null }>(
      sql.unkept(sql`select string_agg(t::text, chr(10) order by t::text) as text from ${sql.raw(name)} t`),
    );
    dump.set(name, row?.text ?? '');
  }
  return dump;
};

const findOccurrences = (texts: ReadonlyMap<string, string>): string[] =>
  [...texts].flatMap(([location, text]) => findTexts(text).map((one) => `${location}: ${one}`));

const views: readonly RebuildableView[] = listViews(moduleDefinitions);

/** Resolves when every follower has read the whole log. */
const settled = async (): Promise<void> => {
  const waiting = () =>
    server.database.row(sql`
      select 1 from event_store.checkpoints c
       where (c.transaction, c.position) < (select transaction, position from event_store.events e
                                             order by e.transaction desc, e.position desc limit 1)`);
  while (await waiting()) await new Promise((resolve) => setTimeout(resolve, 20));
};

const expectViewsToMatch = async (): Promise<void> => {
  await settled();
  await expectViewsMatchLog(server, moduleDefinitions);
};

const forget = (id: string): Promise<ApiResponse> => server.delete(`/api/v2/admin/users/${id}`);

beforeAll(async () => {
  server = await startTestServer({ followers: true });
  acme = await makeOrganization(server, 'acme');
  trail = server.as(await makeOrganizationToken(server, 'acme'));
  person = await makeMember(server, 'acme', NAME, [acme.ownersTeam]);
});
afterAll(() => server.close());

describe('a person who has used every feature', () => {
  let before: readonly Entry[];

  beforeAll(async () => {
    await useEveryFeature();
    before = await entries();
    await settled();
  });

  it('is named in responses and views before they are forgotten, but not in plain text in the log', async () => {
    const names = new Set(findOccurrences(await readEverything()).map((occurrence) => occurrence.split(': ')[1]));
    expect(names).toEqual(new Set([RENAMED, NAME, WISHED_EMAIL]));
    const dump = await tables();
    const tablesWithName = findOccurrences(dump).map((occurrence) => occurrence.split(': ')[0]);
    expect(tablesWithName).toEqual(
      expect.arrayContaining([
        'event_store.streams',
        ...['users', 'workspaces', 'workspace_tags', 'project_tags', 'state_versions', 'configuration_versions'].map(
          (view) => `views.${view}`,
        ),
        ...['runs', 'run_events', 'run_comments', 'history_versions'].map((view) => `views.${view}`),
      ]),
    );
    expect(dump.get('views.users')).toContain(WISHED_EMAIL);
    expect(tablesWithName).not.toContain('event_store.events');
    expect(tablesWithName).not.toContain('views.audit_trail_entries');
    expect(dump.get('event_store.events')).toContain(person.id);
    await expectViewsToMatch();
  });

  it('is named in the trail, and found there by every name and by id', async () => {
    const theirs = before.filter(({ auth }) => auth.accessor_id === person.id);
    expect(theirs.length).toBeGreaterThan(15);
    const acted = theirs.filter(({ resource: { type } }) => !['stack', 'policy_check'].includes(type));
    expect(new Set(acted.map(({ request: { address, user_agent } }) => `${address} ${user_agent}`))).toEqual(
      new Set([`${ADDRESS} ${PROGRAM}`]),
    );
    expect(new Set(theirs.map(({ auth }) => auth.description))).toEqual(new Set([RENAMED, NAME]));
    const followed = before.filter(({ resource: { meta } }) => meta?.['shown'] === 'archive');
    expect(followed).toMatchObject([
      { auth: { accessor_id: 'system' }, request: { address: ADDRESS, user_agent: PROGRAM } },
    ]);
    for (const actor of [RENAMED, NAME, person.id]) {
      expect((await entries(`?filter[actor]=${actor}`)).map(({ id }) => id)).toEqual(theirs.map(({ id }) => id));
    }
    expect(before.find(({ resource: { action } }) => action === 'add_member')?.resource.meta).toEqual({
      user: RENAMED,
    });
  });

  it('can be forgotten only by an administrator of the site', async () => {
    expectStatus(await server.as(person.token).delete(`/api/v2/admin/users/${person.id}`), 404);
    expectStatus(await trail.delete(`/api/v2/admin/users/${person.id}`), 404);
    expectStatus(await forget('user-0000000000000000'), 404);
    expect((await server.get(`/api/v2/users/${person.id}`)).body.data.attributes.username).toBe(RENAMED);
  });

  it('loses memberships and tokens when they are forgotten', async () => {
    expectStatus(await forget(person.id), 204);
    expectStatus(await from(person).get('/api/v2/account/details'), 401);
    expectStatus(await server.get(`/api/v2/users/${person.id}`), 404);
    expectStatus(await forget(person.id), 404);
    const rows = await server.database.rows(sql`
      select 1 from organization_memberships where user_id = ${person.id}
      union all select 1 from team_members where user_id = ${person.id}
      union all select 1 from authentication_tokens where owner = ${person.id}`);
    expect(rows).toEqual([]);
  });

  it('is named in no table and in no response afterwards', async () => {
    await settled();
    expect(findOccurrences(await tables())).toEqual([]);
    expect(findOccurrences(await readEverything())).toEqual([]);
    expect(findTexts(JSON.stringify(await entries()))).toEqual([]);
    const lines = await fetch(`${server.url}/api/v2/organization/audit-trail`, {
      headers: {
        accept: 'application/x-ndjson',
        authorization: `Bearer ${await makeOrganizationToken(server, 'acme')}`,
      },
    });
    expect(findTexts(await lines.text())).toEqual([]);
    trail = server.as(await makeOrganizationToken(server, 'acme'));
  });

  it('keeps their entries in the trail, with the same times and order, under their id', async () => {
    const after = await entries();
    const since = after.filter(({ id }) => !before.some((entry) => entry.id === id));
    expect(after.slice(since.length).map(({ id, timestamp }) => [id, timestamp])).toEqual(
      before.map(({ id, timestamp }) => [id, timestamp]),
    );
    const names = new Map(before.map((entry) => [entry.id, entry]));
    for (const entry of after.slice(since.length)) {
      const was = names.get(entry.id);
      const isTheirs = entry.auth.accessor_id === person.id;
      expect(entry.auth).toEqual({ ...was?.auth, ...(isTheirs ? { description: person.id } : {}) });
      const fromThem = isTheirs || entry.resource.meta?.['link_of'] === person.id;
      expect(entry.request).toEqual({ ...was?.request, ...(fromThem ? { address: null, user_agent: null } : {}) });
    }
    expect(since.map(({ resource: { type, action } }) => `${type} ${action}`)).toEqual(
      expect.arrayContaining(['organization_user destroy', 'team remove_member']),
    );
    expect((await entries(`?filter[actor]=${RENAMED}`)).length).toBe(0);
    expect((await entries(`?filter[actor]=${person.id}`)).length).toBeGreaterThan(15);
  });

  it('is named in no rebuilt view, and the rebuilt views equal the live views', async () => {
    await expectViewsToMatch();
    const live = await tables();
    for (const view of views) await rebuildView(server.store, view, { now: new Date() });
    await settled();
    const after = await tables();
    const inViews = (all: ReadonlyMap<string, string>) => [...all].filter(([name]) => name.startsWith('views.'));
    expect(inViews(after)).toEqual(inViews(live));
    expect(findOccurrences(after)).toEqual([]);
    await expectViewsToMatch();
  });

  it('keeps their lock, which names their id and can be broken', async () => {
    const refused = expectStatus(await lock(server, lockedWorkspace), 409);
    expect(refused.text).toContain(`locked by User ${person.id}`);
    expectStatus(
      await server.patch(`/api/v2/workspaces/${lockedWorkspace}`, resource('workspaces', { description: 'z' })),
      200,
    );
    expectStatus(await act(server, lockedWorkspace, 'force-unlock'), 200);
    await expectViewsToMatch();
  });

  it('leaves their name free for others', async () => {
    const other = await makeMember(server, 'acme', 'dora');
    expectStatus(await other.patch('/api/v2/account/details', resource('users', { username: RENAMED })), 200);
    expect((await entries(`?filter[actor]=${RENAMED}`)).every(({ auth }) => auth.accessor_id === other.id)).toBe(true);
    expectStatus(await forget(other.id), 204);
    await settled();
    expect(findOccurrences(await tables())).toEqual([]);
  });
});

describe('a person who cannot be forgotten', () => {
  it('is the last owner of an organization, and the error names the organizations', async () => {
    const owner = await makeMember(server, 'acme', 'founder');
    for (const name of ['first', 'second']) {
      expectStatus(
        await owner.post('/api/v2/organizations', resource('organizations', { name, email: 'a@b.test' })),
        201,
      );
    }
    const { detail } = expectStatus(await forget(owner.id), 422).body.errors[0];
    expect(detail).toMatch(/The last active owner of (first, second|second, first) cannot be forgotten/);
    for (const name of ['first', 'second']) {
      const { data } = expectStatus(await server.get(`/api/v2/organizations/${name}/teams`), 200).body;
      await makeMember(server, name, `heir-of-${name}`, [data[0].id]);
    }
    expectStatus(await forget(owner.id), 204);
  });

  it('is the last administrator of the site', async () => {
    const { id } = expectStatus(await server.get('/api/v2/account/details'), 200).body.data;
    const { detail } = expectStatus(await forget(id), 422).body.errors[0];
    expect(detail).toMatch(/^The last administrator of the site cannot be forgotten/);
    expectStatus(await server.get('/api/v2/account/details'), 200);
  });
});

describe('another gateway that has the key of the person in its cache', () => {
  let runtime: Runtime;
  let gateway: Awaited<ReturnType<typeof startAnotherGateway>>;

  beforeAll(async () => {
    const { databaseUrl, encryptionKeys, settings, logger, clock, ids } = server.runtime;
    const close = (): Promise<void> => Promise.resolve();
    runtime = createRuntime({ databaseUrl, encryptionKeys, close }, { settings, logger, name: 'other', clock, ids });
    gateway = await startAnotherGateway({ ...server, runtime, store: runtime.store });
  });
  afterAll(async () => {
    await gateway.close();
    await runtime.close();
  });

  it("refuses the person's requests, and writes nothing more about them", async () => {
    const { id, token } = await makeMember(server, 'acme', NAME, [acme.ownersTeam]);
    const [mine, another] = [
      await makeWorkspace(server, 'acme', 'mine'),
      await makeWorkspace(server, 'acme', 'another'),
    ];
    const api = gateway.as(token);
    expectStatus(await lock(api, mine), 200);
    expectStatus(await lock(api, another), 200);
    expectStatus(await forget(id), 204);
    expectStatus(await lock(api, lockedWorkspace), 401);
    const described = resource('workspaces', { description: 'changed by another caller' });
    expectStatus(await gateway.patch(`/api/v2/workspaces/${mine}`, described), 200);
    expectStatus(await act(gateway, another, 'force-unlock'), 200);
    await settled();
    expect(findOccurrences(await tables())).toEqual([]);
    await expectViewsToMatch();
  });

  it.each([
    ['they lock a workspace themselves', 401, (api: ApiTestClient, id: string) => lock(api, id)],
    [
      'another caller force-unlocks their workspace',
      200,
      (_: ApiTestClient, id: string) => act(gateway, id, 'force-unlock'),
    ],
    [
      'another caller changes the workspace that they have locked',
      200,
      (_: ApiTestClient, id: string) =>
        gateway.patch(`/api/v2/workspaces/${id}`, resource('workspaces', { description: 'new' })),
    ],
  ])('writes no name if the person is forgotten between its read and its write: %s', async (what, status, doIt) => {
    const { id, token } = await makeMember(server, 'acme', `${NAME}-${status}`, [acme.ownersTeam]);
    const target = await makeWorkspace(server, 'acme', `target-${id}`);
    const api = gateway.as(token);
    if (status === 200) expectStatus(await lock(api, target), 200);
    runBetween(runtime.store, async () => expectStatus(await forget(id), 204));
    expect([what, (await doIt(api, target)).status]).toEqual([what, status]);
    await settled();
    expect(findOccurrences(await tables())).toEqual([]);
    await expectViewsToMatch();
  });
});

describe('another gateway that has never read the key of the person', () => {
  let otherGateway: ApiTestClient & Pick<Runtime, 'store'> & { close(): Promise<void> };

  // Each test gets a runtime that has not written anything yet.
  beforeEach(async () => {
    const { databaseUrl, encryptionKeys, settings, logger, clock, ids } = server.runtime;
    const runtimeParts = { databaseUrl, encryptionKeys, close: () => Promise.resolve() };
    const runtime = createRuntime(runtimeParts, { settings, logger, name: 'cold', clock, ids });
    const gateway = await startAnotherGateway({ ...server, runtime, store: runtime.store });
    const close = async (): Promise<void> => {
      await gateway.close();
      await runtime.close();
    };
    otherGateway = { ...gateway, store: runtime.store, close };
  });
  afterEach(() => otherGateway.close());

  it.each([
    [
      'writes',
      runBetween,
      (api: ApiTestClient, target: string) =>
        api.patch(`/api/v2/workspaces/${target}`, resource('workspaces', { description: 'z' })),
    ],
    ['returns', meanwhileShown, (api: ApiTestClient, target: string) => api.get(`/api/v2/workspaces/${target}/vars`)],
  ])('%s nothing for a person who is forgotten meanwhile', async (what, having, send) => {
    const { id, token } = await makeMember(server, 'acme', `${NAME}-${what}`, [acme.ownersTeam]);
    const target = await makeWorkspace(server, 'acme', `cold-${what}`);
    having(otherGateway.store, async () => expectStatus(await forget(id), 204));
    expectStatus(await send(otherGateway.as(token), target), 401);
    await settled();
    expect(findOccurrences(await tables())).toEqual([]);
    await expectViewsToMatch();
  });
});

describe('a person who sends requests while they are forgotten', () => {
  it('gets 401 and no server error from then on, and their earlier changes are recorded under their id', async () => {
    const { id, token } = await makeMember(server, 'acme', NAME, [acme.ownersTeam]);
    const api = server.as(token);
    const targets = await Promise.all(Array.from({ length: 8 }, (_, n) => makeWorkspace(server, 'acme', `race-${n}`)));
    let over = false;
    const answers: number[] = [];
    const busy = targets.map(async (target) => {
      while (!over) {
        for (const action of ['lock', 'unlock']) answers.push((await act(api, target, action)).status);
      }
    });
    while (answers.length < 20) await new Promise((resolve) => setTimeout(resolve, 5));
    expectStatus(await forget(id), 204);
    over = true;
    await Promise.all(busy);
    expect([...new Set(answers)].filter((status) => status !== 200 && status !== 401)).toEqual([]);
    await settled();
    expect(findOccurrences(await tables())).toEqual([]);
    expect(findTexts(JSON.stringify(await entries()))).toEqual([]);
    await expectViewsToMatch();
  });

  it('is forgotten once if several requests do so at the same time', async () => {
    const { id } = await makeMember(server, 'acme', 'twice');
    const answers = await Promise.all([1, 2, 3].map(() => forget(id)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([204, 404, 404]);
  });

  it('cannot leave the site without an administrator if two administrators forget each other', async () => {
    const { ensureUser, issueUserToken } = await import('#identity/people');
    const admins = await Promise.all(
      ['left', 'right'].map(async (name) => {
        const { id } = await ensureUser(server.store, server.runtime.ids, name, true);
        return { id, api: server.as(await issueUserToken(server.store, server.runtime.ids, id, 'for a test')) };
      }),
    );
    const answers = await Promise.all(
      admins.map(({ api }, n) => api.delete(`/api/v2/admin/users/${admins[1 - n]?.id}`)),
    );
    expect(answers.filter(({ status }) => status === 204).length).toBeGreaterThan(0);
    expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
    expectStatus(await server.get('/api/v2/account/details'), 200);
  });
});
