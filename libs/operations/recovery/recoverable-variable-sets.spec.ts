import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { createExpiredVariableSetsJob, variablesDefinition } from '#workspaces/variables';
import { FixedClock } from '../../../test/support/clocks.js';
import { readWholeLog } from '../../../test/support/event-log.js';
import { listRecoverable, purgeItem, recoverItem } from '../../../test/support/recovery.js';
import { runJobOnce } from '../../../test/support/scheduled-jobs.js';
import {
  expectStatus,
  grantProjectAccess,
  makeMember,
  makeOrganization,
  makeProject,
  makeTeam,
  makeWorkspace,
  refusalOf,
  related,
  resource,
  type SeededMember,
} from '../../../test/support/seeds.js';
import { startTestServer, type ApiResponse, type TestServer } from '../../../test/support/server.js';
import { expectViewsMatchLog } from '../../../test/support/views-match-log.js';

const SECRET = 'hunter2-of-the-recovered-set';
const clock = new FixedClock();
let server: TestServer;
let maintainer: SeededMember;
let reader: SeededMember;
let maintainers: string;
let readers: string;
let count = 0;

beforeAll(async () => {
  server = await startTestServer({ clock, followers: true });
  await makeOrganization(server, 'acme');
  maintainers = await makeTeam(server, 'acme', 'maintainers');
  readers = await makeTeam(server, 'acme', 'readers');
  maintainer = await makeMember(server, 'acme', 'mia', [maintainers]);
  reader = await makeMember(server, 'acme', 'rita', [readers]);
});

afterAll(() => server.close());

const unique = (name: string): string => `${name}-${(count += 1)}`;

const get = async (path: string): Promise<ApiResponse['body']> =>
  expectStatus(await server.get(`/api/v2/${path}`), 200).body;
const remove = async (path: string): Promise<void> => void expectStatus(await server.delete(`/api/v2/${path}`), 204);
const listIds = async (api: Parameters<typeof listRecoverable>[0] = server): Promise<readonly string[]> =>
  (await listRecoverable(api, 'acme')).map(({ id }) => id as string);

const makeSet = async (attributes: object = {}, relationships: object = {}): Promise<string> => {
  const body = resource('varsets', { name: unique('set'), ...attributes }, relationships);
  return expectStatus(await server.post('/api/v2/organizations/acme/varsets', body), 201).body.data.id as string;
};

const addVariable = async (set: string, key: string, attributes: object): Promise<string> => {
  const body = resource('vars', { key, category: 'env', ...attributes });
  const answer = await server.post(`/api/v2/varsets/${set}/relationships/vars`, body);
  return expectStatus(answer, 201).body.data.id as string;
};

/** Everything that a set shows, but for the time that a recovery changes. */
const showEverything = async (id: string): Promise<unknown> => {
  const { data } = await get(`varsets/${id}`);
  const { 'updated-at': _, ...attributes } = data.attributes;
  return { ...data, attributes, variables: (await get(`varsets/${id}/relationships/vars`)).data };
};

const countSecrets = async (variable: string): Promise<number> =>
  (await server.store.database.rows(sql`select 1 as one from vault.secrets where id = ${variable}`)).length;

const countRows = async (id: string): Promise<number> => {
  const tables = [
    ['variables', 'owner'],
    ['variable_set_targets', 'variable_set'],
    ['variable_sets', 'id'],
    ['deleted_variable_sets', 'id'],
  ] as const;
  const counts = await Promise.all(
    tables.map(([table, column]) =>
      server.store.database.rows(sql`select 1 as one from ${sql.raw(table)} where ${sql.raw(column)} = ${id}`),
    ),
  );
  return counts.flat().length;
};

describe('a deleted variable set', () => {
  it('comes back under its id with its variables, secrets and targets', async () => {
    const workspace = await makeWorkspace(server, 'acme', unique('ws'));
    const project = await makeProject(server, 'acme', unique('project'));
    const id = await makeSet(
      { description: 'Credentials', priority: true },
      { workspaces: related('workspaces', workspace), projects: related('projects', project) },
    );
    await addVariable(id, 'REGION', { value: 'eu-1', description: 'where' });
    const secret = await addVariable(id, 'PASSWORD', { value: SECRET, sensitive: true });
    const before = await showEverything(id);
    await remove(`varsets/${id}`);
    for (const path of [`varsets/${id}`, `varsets/${id}/relationships/vars`])
      expect((await server.get(`/api/v2/${path}`)).status).toBe(404);
    expect((await get(`workspaces/${workspace}/varsets`)).data).toEqual([]);
    clock.pass({ seconds: 29 * 86_400 });
    await runJobOnce(createExpiredVariableSetsJob(server.store, clock, server.runtime.ids));
    const [item] = await listRecoverable(server, 'acme');
    expect(item).toMatchObject({
      id,
      attributes: { kind: 'varsets', permissions: { 'can-recover': true, 'can-purge': true } },
      relationships: { item: { data: { type: 'varsets', id } }, project: { data: null } },
    });
    const answer = expectStatus(await recoverItem(server, id), 200);
    expect(answer.body.data).toMatchObject({ id, attributes: { kind: 'varsets', changes: [] } });
    expect(await showEverything(id)).toEqual(before);
    expect(await countSecrets(secret)).toBe(1);
    expect((await get(`workspaces/${workspace}/varsets`)).data).toHaveLength(1);
    expect(await listIds()).not.toContain(id);
    const events = (await readWholeLog(server.store)).filter(({ stream }) => stream === id);
    expect(events.at(-1)).toMatchObject({ type: 'VariableSetRecovered' });
    expect(JSON.stringify(events)).not.toContain(SECRET);
  });

  it('comes back without the targets that were deleted for good in between', async () => {
    const [present, removed] = [
      await makeWorkspace(server, 'acme', unique('ws')),
      await makeWorkspace(server, 'acme', unique('ws')),
    ];
    const id = await makeSet({}, { workspaces: related('workspaces', present, removed) });
    await remove(`varsets/${id}`);
    await remove(`workspaces/${removed}`);
    expectStatus(await purgeItem(server, removed), 204);
    expectStatus(await recoverItem(server, id), 200);
    const { data } = await get(`varsets/${id}`);
    expect(data.relationships.workspaces.data).toEqual([{ type: 'workspaces', id: present }]);
  });

  it('is refused while another one has its name, in any case, and accepts another name', async () => {
    const id = await makeSet({ name: 'Shared' });
    await remove(`varsets/${id}`);
    const other = await makeSet({ name: 'shared' });
    const refused = expectStatus(await recoverItem(server, id), 422);
    expect(refusalOf(refused)).toEqual([
      '/data/attributes/name',
      'Name has already been taken: rename the other variable set, or send another name',
    ]);
    expect(refusalOf(expectStatus(await recoverItem(server, id, ' '), 422))[0]).toBe('/data/attributes/name');
    const { changes } = expectStatus(await recoverItem(server, id, 'Shared 2'), 200).body.data.attributes;
    expect(changes).toEqual([{ field: 'name', detail: 'The name was Shared' }]);
    expect((await get(`varsets/${id}`)).data.attributes.name).toBe('Shared 2');
    expect((await get(`varsets/${other}`)).data.attributes.name).toBe('shared');
  });

  it('is refused while another global set has one of its keys', async () => {
    const id = await makeSet({ global: true });
    await addVariable(id, 'TOKEN', { value: 'one' });
    await remove(`varsets/${id}`);
    const other = await makeSet({ global: true });
    const variable = await addVariable(other, 'TOKEN', { value: 'two' });
    const refused = expectStatus(await recoverItem(server, id), 422);
    expect(refused.body.errors[0].detail).toBe(
      'Key has already been taken by a variable of another global variable set',
    );
    await remove(`varsets/${other}/relationships/vars/${variable}`);
    expectStatus(await recoverItem(server, id), 200);
    await remove(`varsets/${id}`);
  });

  it('is recovered by callers that may manage it, and hidden from others', async () => {
    const project = await makeProject(server, 'acme', unique('project'));
    const owner = { parent: { data: { type: 'projects', id: project } } };
    await grantProjectAccess(server, maintainers, project, 'admin');
    await grantProjectAccess(server, readers, project, 'read');
    const id = await makeSet({}, owner);
    await remove(`varsets/${id}`);
    expect([await listIds(maintainer), await listIds(reader)].map((ids) => ids.includes(id))).toEqual([true, false]);
    expect([(await recoverItem(reader, id)).status, (await purgeItem(reader, id)).status]).toEqual([404, 404]);
    expectStatus(await recoverItem(maintainer, id), 200);
    expectStatus(await recoverItem(maintainer, id), 409);
    expectStatus(await purgeItem(maintainer, id), 409);
  });

  it('is removed with its secrets when its time is over, by an owner, or with its organization', async () => {
    const [expired, purged] = [await makeSet(), await makeSet()];
    const secrets = [
      await addVariable(expired, 'PASSWORD', { value: SECRET, sensitive: true }),
      await addVariable(purged, 'PASSWORD', { value: SECRET, sensitive: true }),
    ];
    await remove(`varsets/${purged}`);
    expectStatus(await purgeItem(server, purged), 204);
    expectStatus(await purgeItem(server, purged), 404);
    await remove(`varsets/${expired}`);
    clock.pass({ seconds: 30 * 86_400 });
    await runJobOnce(createExpiredVariableSetsJob(server.store, clock, server.runtime.ids));
    expectStatus(await recoverItem(server, expired), 404);
    expect(await Promise.all([expired, purged].map(countRows))).toEqual([0, 0]);
    expect(await Promise.all(secrets.map(countSecrets))).toEqual([0, 0]);
    await makeOrganization(server, 'leaving');
    const body = resource('varsets', { name: 'one' });
    const { id } = expectStatus(await server.post('/api/v2/organizations/leaving/varsets', body), 201).body.data;
    await remove(`varsets/${id}`);
    await remove('organizations/leaving');
    expect(await countRows(id)).toBe(0);
  });

  it('leaves views that match the log', async () => {
    await remove(`varsets/${await makeSet()}`);
    await expectViewsMatchLog(server, [variablesDefinition]);
  });
});
