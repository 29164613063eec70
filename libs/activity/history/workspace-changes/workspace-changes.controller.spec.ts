import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  expectStatus,
  grantWorkspaceAccess,
  makeRemotePool,
  makeConfigurationVersion,
  makeMember,
  makeOrganization,
  makeOrganizationToken,
  makeProject,
  makeRun,
  makeTeam,
  makeWorkspace,
  reportBody,
  resource,
} from '../../../../test/support/seeds.js';
import {
  startTestServer,
  type ApiResponse,
  type ApiTestClient,
  type TestServer,
} from '../../../../test/support/server.js';
import { newStateVersion, stateFile } from '../../../../test/support/state-file.js';
import type { TestHistoryResource } from '../spec.js';

let server: TestServer;
let admin: string;
let land: string;

beforeAll(async () => {
  server = await startTestServer({ followers: true });
  await makeOrganization(server, 'acme');
  admin = expectStatus(await server.get('/api/v2/account/details'), 200).body.data.id as string;
  land = await makeProject(server, 'acme', 'land');
});

afterAll(() => server.close());

const did = async (answer: Promise<ApiResponse>, status: number): Promise<ApiResponse> =>
  expectStatus(await answer, status);

const historyOf = async (id: string, query = '', api: ApiTestClient = server): Promise<TestHistoryResource[]> =>
  expectStatus(await api.get(`/api/v2/workspaces/${id}/history?${query}`), 200).body.data as TestHistoryResource[];

const totalOf = async (id: string, query = '', api: ApiTestClient = server): Promise<number> =>
  expectStatus(await api.get(`/api/v2/workspaces/${id}/history?${query}`), 200).body.meta.pagination[
    'total-count'
  ] as number;

/** Formats changes as lines such as `WorkspaceUpdated; auto-apply: false → true`. */
const formatChanges = (entries: readonly TestHistoryResource[]): string[] =>
  entries.map(({ attributes: { event, changes } }) => {
    const words = (changes as { field: string; from: unknown; to: unknown }[]).map(
      ({ field, from, to }) => `${field}: ${JSON.stringify(from)} → ${JSON.stringify(to)}`,
    );
    return [event as string, ...words].join('; ');
  });

const patch = (id: string, attributes: object, relationships?: object): Promise<ApiResponse> =>
  did(server.patch(`/api/v2/workspaces/${id}`, resource('workspaces', attributes, relationships)), 200);

const act = (id: string, action: string, body?: object): Promise<ApiResponse> =>
  did(server.post(`/api/v2/workspaces/${id}/actions/${action}`, body), 200);

const addVariable = async (id: string, key: string): Promise<string> => {
  const body = resource('vars', { key, value: 'v', category: 'terraform' });
  return (await did(server.post(`/api/v2/workspaces/${id}/vars`, body), 201)).body.data.id as string;
};

describe('the history of a workspace', () => {
  it('shows for each event, newest first, the changed fields with old and new values', async () => {
    const id = await makeWorkspace(server, 'acme', 'one');
    const project = expectStatus(await server.get(`/api/v2/workspaces/${id}`), 200).body.data.relationships.project.data
      .id;
    await patch(id, { 'auto-apply': true, 'terraform-version': '1.9.8', description: 'net' });
    await patch(
      id,
      { name: 'uno', 'trigger-prefixes': ['modules'] },
      { project: { data: { type: 'projects', id: land } } },
    );
    await act(id, 'lock', { reason: 'applying the network' });
    const state = newStateVersion(stateFile(), { inline: true });
    const version = (await did(server.post(`/api/v2/workspaces/${id}/state-versions`, state), 201)).body.data.id;
    await act(id, 'unlock');
    const bindings = { data: [{ type: 'tag-bindings', attributes: { key: 'env', value: 'prod' } }] };
    await did(server.patch(`/api/v2/workspaces/${id}/tag-bindings`, bindings), 200);
    const flat = { data: [{ type: 'tags', attributes: { name: 'flat' } }] };
    await did(server.post(`/api/v2/workspaces/${id}/relationships/tags`, flat), 204);
    const variable = await addVariable(id, 'region');
    await did(server.delete(`/api/v2/workspaces/${id}/vars/${variable}`), 204);
    const otherWorkspace = await makeWorkspace(server, 'acme', 'other');
    const consumers = { data: [{ type: 'workspaces', id: otherWorkspace }] };
    await did(server.post(`/api/v2/workspaces/${id}/relationships/remote-state-consumers`, consumers), 204);
    await patch(id, { 'execution-mode': 'local', description: null });
    await did(server.delete(`/api/v2/workspaces/${id}`), 204);

    const entries = await historyOf(id);
    const lines = formatChanges(entries).slice(0, -1);
    const holder = JSON.stringify({ id: admin, name: 'admin', type: 'users' });
    expect(lines).toEqual([
      'WorkspaceDeleted',
      'WorkspaceUpdated; description: "net" → null; execution-mode: "remote" → "local"; setting-overwrites: ' +
        '{"agent-pool":false,"execution-mode":false} → {"agent-pool":true,"execution-mode":true}',
      `RemoteStateConsumersAdded; remote-state-consumers: [] → ["${otherWorkspace}"]`,
      `VariableDeleted; vars: ["${variable}"] → []`,
      `VariableCreated; vars: [] → ["${variable}"]`,
      'WorkspaceTagAdded; tag-bindings: [{"key":"env","value":"prod"}] → [{"key":"env","value":"prod"},{"key":"flat","value":""}]',
      'WorkspaceTagBound; tag-bindings: [] → [{"key":"env","value":"prod"}]',
      `WorkspaceUnlocked; locked: true → false; locked-by: ${holder} → null; locked-reason: "applying the network" → null`,
      `StateVersionPromoted; current-state-version: null → "${version}"; resource-count: 0 → 1`,
      `WorkspaceLocked; locked: false → true; locked-by: null → ${holder}; locked-reason: null → "applying the network"`,
      `WorkspaceMoved; project: "${project}" → "${land}"`,
      'WorkspaceUpdated; name: "one" → "uno"; trigger-prefixes: [] → ["modules"]',
      `WorkspaceUpdated; auto-apply: false → true; description: null → "net"; terraform-version: ${JSON.stringify(
        entries.at(-1)?.attributes.changes.find(({ field }: any) => field === 'terraform-version').to,
      )} → "1.9.8"`,
    ]);
  });

  it('has a change for each binding that a list replaced', async () => {
    const list = (...pairs: readonly (readonly [key: string, value: string])[]) => ({
      'tag-bindings': {
        data: pairs.map(([key, value]) => ({ type: 'tag-bindings', attributes: { key, value } })),
      },
    });
    const id = await makeWorkspace(server, 'acme', 'bound', {}, list(['a', '1'], ['b', '1']));
    await patch(id, {}, list(['c', '1'], ['b', '2']));
    const words = (...pairs: readonly (readonly [key: string, value: string])[]): string =>
      JSON.stringify(pairs.map(([key, value]) => ({ key, value })));
    expect(formatChanges(await historyOf(id)).slice(0, -1)).toEqual([
      `WorkspaceTagBound; tag-bindings: ${words(['b', '1'], ['c', '1'])} → ${words(['b', '2'], ['c', '1'])}`,
      `WorkspaceTagBound; tag-bindings: ${words(['b', '1'])} → ${words(['b', '1'], ['c', '1'])}`,
      `WorkspaceTagUnbound; tag-bindings: ${words(['a', '1'], ['b', '1'])} → ${words(['b', '1'])}`,
    ]);
  });

  it('has smaller pages of equal size if values are large', async () => {
    const id = await makeWorkspace(server, 'acme', 'large');
    // Values have 60 KB before and after each change, so 34 changes fit in 4 MiB.
    const prefixes = Array.from({ length: 40 }, (_, n) => `${n}${'€'.repeat(495)}`);
    for (let n = 0; n < 40; n += 1) await patch(id, { 'trigger-prefixes': prefixes.with(0, `${n}`) });
    const page = async (number: number, query = '&page[size]=100'): Promise<ApiResponse['body']> =>
      expectStatus(await server.get(`/api/v2/workspaces/${id}/history?page[number]=${number}${query}`), 200).body;
    const pages = [await page(1), await page(2)];
    expect(pages.map(({ data }) => data.length)).toEqual([34, 7]);
    expect(pages[0].meta.pagination).toMatchObject({ 'page-size': 34, 'total-pages': 2, 'total-count': 41 });
    expect(new Set(pages.flatMap(({ data }) => data.map((entry: TestHistoryResource) => entry.id))).size).toBe(41);
    expect((await page(1, '&page[size]=2')).data).toHaveLength(2);
    expect((await page(2, '&page[size]=100&filter[field]=trigger-prefixes')).data).toHaveLength(7);
  });

  it('starts with the attributes of the creation', async () => {
    const id = await makeWorkspace(server, 'acme', 'born', { 'auto-apply': true });
    const [creation] = await historyOf(id);
    const values = new Map(creation?.attributes.changes.map(({ field, from, to }: any) => [field, [from, to]]));
    expect(creation?.attributes.event).toBe('WorkspaceCreated');
    expect(values.get('name')).toEqual([null, 'born']);
    expect(values.get('auto-apply')).toEqual([null, true]);
    expect(values.get('locked')).toEqual([null, false]);
    expect(values.get('tag-bindings')).toEqual([null, []]);
    // A field that is null from the start has not changed.
    expect(values.has('description')).toBe(false);
  });

  it('shows actor, request and time of a change, and as-of that time returns its result', async () => {
    const id = await makeWorkspace(server, 'acme', 'acted');
    const ada = await makeMember(server, 'acme', 'ada', [await teamOn(id, 'admin')]);
    const answer = expectStatus(
      await ada.patch(`/api/v2/workspaces/${id}`, resource('workspaces', { 'auto-apply': true })),
      200,
    );
    const [entry] = await historyOf(id);
    const { attributes, relationships } = entry as TestHistoryResource;
    expect(entry).toMatchObject({ type: 'workspace-changes', attributes: { version: 2, 'actor-name': ada.username } });
    expect(attributes['request-id']).toBe(answer.headers.get('x-request-id'));
    expect(attributes['created-at']).toBe(answer.body.data.attributes['updated-at']);
    expect(relationships.actor.data).toEqual({ type: 'users', id: ada.id });
    expect(relationships.workspace.data).toEqual({ type: 'workspaces', id });
    const then = await ada.get(`/api/v2/workspaces/${id}?as-of=${attributes['created-at']}`);
    expect(then.body).toEqual(answer.body);
    const logged = await server.store.log.stream(id);
    expect(entry?.id).toBe(logged.at(-1)?.id);
  });

  it('shows an organization token as the user that clients know', async () => {
    const id = await makeWorkspace(server, 'acme', 'machines');
    const machine = server.as(await makeOrganizationToken(server, 'acme'));
    expectStatus(await machine.patch(`/api/v2/workspaces/${id}`, resource('workspaces', { 'auto-apply': true })), 200);
    const [entry] = await historyOf(id);
    expect(entry?.relationships.actor.data.type).toBe('users');
    expect(entry?.attributes['actor-name']).toBe('acme');
  });

  it('stores actors with very long names', async () => {
    const id = await makeWorkspace(server, 'acme', 'executed');
    await makeConfigurationVersion(server, id);
    const run = await makeRun(server, id);
    const pool = await makeRemotePool(server, 'acme', 'edge');
    // As random as possible, because an index has little space and compresses repetitions.
    const name = Array.from(randomBytes(1_000), (byte, n) => String.fromCodePoint(0x4e00 + byte * 80 + (n % 80))).join(
      '',
    );
    const body = resource('authentication-tokens', { description: name });
    const token = await did(server.post(`/api/v2/agent-pools/${pool}/authentication-tokens`, body), 201);
    const agent = server.as(token.body.data.attributes.token as string);
    for (const status of ['planning', 'errored']) {
      await did(agent.post(`/api/v2/runs/${run}/progress`, reportBody(status)), 200);
    }
    const [entry] = await historyOf(id);
    expect([entry?.attributes.event, entry?.attributes['actor-name']]).toEqual([
      'WorkspaceUnlocked',
      name.slice(0, 100),
    ]);
    expect((await historyOf(id, `filter[actor]=${encodeURIComponent(name)}`)).length).toBeGreaterThan(0);
    expect(await historyOf(id, `filter[actor]=${pool}`)).toEqual(
      await historyOf(id, `filter[actor]=${encodeURIComponent(name)}`),
    );
  });

  it('has pages and a count, and can be filtered by field and actor', async () => {
    const id = await makeWorkspace(server, 'acme', 'paged');
    const ben = await makeMember(server, 'acme', 'ben', [await teamOn(id, 'admin')]);
    for (let n = 0; n < 3; n += 1) {
      await patch(id, { 'auto-apply': n % 2 === 0 });
      await did(ben.post(`/api/v2/workspaces/${id}/actions/lock`), 200);
      await did(ben.post(`/api/v2/workspaces/${id}/actions/unlock`), 200);
    }
    const all = await historyOf(id);
    expect(all).toHaveLength(10);
    const pages = await Promise.all([1, 2, 3, 4].map((n) => historyOf(id, `page[size]=3&page[number]=${n}`)));
    expect(pages.flat()).toEqual(all);
    expect(await totalOf(id, 'page[size]=3&page[number]=2')).toBe(10);
    expect(await historyOf(id, 'page[number]=9')).toEqual([]);
    expect(await totalOf(id, 'page[number]=9')).toBe(10);
    const count = async (query: string): Promise<[number, number]> => [
      (await historyOf(id, query)).length,
      await totalOf(id, query),
    ];
    expect(await count('filter[field]=auto-apply')).toEqual([4, 4]);
    expect(await count('filter[field]=auto-apply,locked')).toEqual([10, 10]);
    expect(await count('filter[field]=nothing-such')).toEqual([0, 0]);
    expect(await count('filter[field]=constructor')).toEqual([0, 0]);
    expect(await count('filter[field]=iac-version')).toEqual(await count('filter[field]=terraform-version'));
    expect(await count('filter[field]=iac-version')).not.toEqual([0, 0]);
    expect(await count(`filter[actor]=${ben.id}`)).toEqual([6, 6]);
    expect(await count(`filter[actor]=${ben.username}`)).toEqual([6, 6]);
    expect(await count(`filter[actor]=${admin}&filter[field]=locked`)).toEqual([1, 1]);
    expect(await count(`filter[actor]=${admin},${ben.username}`)).toEqual([10, 10]);
    expect(await count('filter[actor]=nobody')).toEqual([0, 0]);
    // The old value comes from the previous version, not from the next entry on the page.
    const [last, former] = await historyOf(id, 'filter[field]=auto-apply');
    expect(formatChanges([last as TestHistoryResource, former as TestHistoryResource])).toEqual([
      'WorkspaceUpdated; auto-apply: false → true',
      'WorkspaceUpdated; auto-apply: true → false',
    ]);
  });
});

let teams = 0;
const teamOn = async (workspace: string, access: string): Promise<string> => {
  const team = await makeTeam(server, 'acme', `team-${(teams += 1)}`);
  await grantWorkspaceAccess(server, team, workspace, access);
  return team;
};

describe('the self-hosted edition', () => {
  it('has no health assessments in the history either', async () => {
    const selfHosted = await startTestServer({ followers: true, env: { CADASTRE_EDITION: 'self-hosted' } });
    try {
      await makeOrganization(selfHosted, 'acme');
      const id = await makeWorkspace(selfHosted, 'acme', 'one');
      const [creation] = await historyOf(id, '', selfHosted);
      const fields = creation?.attributes.changes.map(({ field }: any) => field);
      expect(fields).toContain('auto-apply');
      expect(fields).not.toContain('assessments-enabled');
    } finally {
      await selfHosted.close();
    }
  });
});
