import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { peopleDefinition } from '#identity/people';
import { agentsDefinition } from '#organizations/agents';
import { createExpiredProjectsJob, organizationsDefinition } from '#organizations/organizations';
import { createExpiredVariableSetsJob, variablesDefinition } from '#workspaces/variables';
import { FixedClock } from '../../../test/support/clocks.js';
import { listRecoverable, purgeItem, recoverItem } from '../../../test/support/recovery.js';
import { runJobOnce } from '../../../test/support/scheduled-jobs.js';
import {
  bindTags,
  expectStatus,
  grantProjectAccess,
  makeAgentPool,
  makeMember,
  makeOrganization,
  makeProject,
  makeTeam,
  makeWorkspace,
  refusalOf,
  resource,
} from '../../../test/support/seeds.js';
import { startTestServer, type ApiResponse, type TestServer } from '../../../test/support/server.js';
import { expectViewsMatchLog } from '../../../test/support/views-match-log.js';

const clock = new FixedClock();
let server: TestServer;
let team: string;
let count = 0;

beforeAll(async () => {
  server = await startTestServer({ clock, followers: true });
  await makeOrganization(server, 'acme');
  team = await makeTeam(server, 'acme', 'maintainers');
});

afterAll(() => server.close());

const unique = (name: string): string => `${name}-${(count += 1)}`;

const get = async (path: string): Promise<ApiResponse['body']> =>
  expectStatus(await server.get(`/api/v2/${path}`), 200).body;
const remove = async (path: string): Promise<void> => void expectStatus(await server.delete(`/api/v2/${path}`), 204);

const makeSet = async (project: string, name = unique('set')): Promise<string> => {
  const body = resource('varsets', { name }, { parent: { data: { type: 'projects', id: project } } });
  return expectStatus(await server.post('/api/v2/organizations/acme/varsets', body), 201).body.data.id as string;
};

/** Adds a sensitive variable. Returns its id. */
const addSecret = async (set: string): Promise<string> => {
  const body = resource('vars', { key: 'PASSWORD', category: 'env', value: 'hunter2', sensitive: true });
  const answer = await server.post(`/api/v2/varsets/${set}/relationships/vars`, body);
  return expectStatus(answer, 201).body.data.id as string;
};

/** Everything that a project shows. */
const showEverything = async (id: string): Promise<unknown> => ({
  project: (await get(`projects/${id}`)).data,
  tags: (await get(`projects/${id}/tag-bindings`)).data,
  access: (await get(`team-projects?filter[project][id]=${id}`)).data,
  sets: (await get(`projects/${id}/varsets`)).data,
});

const countRows = async (id: string): Promise<number> => {
  const tables = [
    ['projects', 'id'],
    ['deleted_projects', 'id'],
    ['project_tags', 'project'],
    ['deleted_project_tags', 'project'],
    ['team_projects', 'project'],
    ['variable_sets', 'project'],
    ['deleted_variable_sets', `contents ->> 'project'`],
  ] as const;
  const counts = await Promise.all(
    tables.map(([table, column]) =>
      server.store.database.rows(sql`select 1 as one from ${sql.raw(table)} where ${sql.raw(column)} = ${id}`),
    ),
  );
  return counts.flat().length;
};

const countSecrets = async (variable: string): Promise<number> =>
  (await server.store.database.rows(sql`select 1 as one from vault.secrets where id = ${variable}`)).length;

const makeFull = async (name = unique('project')): Promise<{ id: string; set: string; secret: string }> => {
  const id = await makeProject(server, 'acme', name);
  const settings = { description: 'Networks', 'auto-destroy-activity-duration': '14d' };
  expectStatus(await server.patch(`/api/v2/projects/${id}`, resource('projects', settings)), 200);
  await bindTags(server, `projects/${id}`, { env: 'prod', owner: 'net' });
  await grantProjectAccess(server, team, id, 'maintain');
  const set = await makeSet(id);
  return { id, set, secret: await addSecret(set) };
};

describe('a deleted project', () => {
  it('comes back under its id with settings, tags, access of teams and variable sets', async () => {
    const { id, set, secret } = await makeFull();
    const before = await showEverything(id);
    await remove(`projects/${id}`);
    for (const path of [`projects/${id}`, `varsets/${set}`, `projects/${id}/tag-bindings`])
      expect((await server.get(`/api/v2/${path}`)).status).toBe(404);
    clock.pass({ seconds: 29 * 86_400 });
    await runJobOnce(createExpiredProjectsJob(server.store, clock, server.runtime.ids));
    // Its variable sets come back with it, so they are no items of their own.
    expect((await listRecoverable(server, 'acme')).map((item) => item.id)).toEqual([id]);
    expectStatus(await recoverItem(server, set), 404);
    const answer = expectStatus(await recoverItem(server, id), 200);
    expect(answer.body.data).toMatchObject({ id, attributes: { kind: 'projects', changes: [] } });
    expect(await showEverything(id)).toEqual(before);
    expect(await countSecrets(secret)).toBe(1);
  });

  it('gets its workspaces back one by one', async () => {
    const id = await makeProject(server, 'acme', unique('project'));
    const workspace = await makeWorkspace(
      server,
      'acme',
      unique('ws'),
      {},
      { project: { data: { type: 'projects', id } } },
    );
    await remove(`workspaces/${workspace}`);
    await remove(`projects/${id}`);
    expectStatus(await recoverItem(server, id), 200);
    expect(expectStatus(await recoverItem(server, workspace), 200).body.data.attributes.changes).toEqual([]);
    expect((await get(`workspaces/${workspace}`)).data.relationships.project.data.id).toBe(id);
  });

  it('is refused while its name, or that of a variable set, is taken, and accepts another name', async () => {
    const { id, set } = await makeFull('Shared');
    const { name } = (await get(`varsets/${set}`)).data.attributes;
    await remove(`projects/${id}`);
    const other = await makeProject(server, 'acme', 'shared');
    expect(refusalOf(expectStatus(await recoverItem(server, id), 422))).toEqual([
      '/data/attributes/name',
      'Name has already been taken: rename the other project, or send another name',
    ]);
    const twin = await makeSet(other, name.toUpperCase());
    const refused = expectStatus(await recoverItem(server, id, 'Shared 2'), 422);
    expect(refused.body.errors[0].detail).toContain('A variable set of the project has a name');
    await remove(`varsets/${twin}`);
    const { changes } = expectStatus(await recoverItem(server, id, 'Shared 2'), 200).body.data.attributes;
    expect(changes).toEqual([{ field: 'name', detail: 'The name was Shared' }]);
    expect((await get(`varsets/${set}`)).data.attributes.name).toBe(name);
  });

  it('follows its organization if its agent pool is gone', async () => {
    const pool = await makeAgentPool(server, 'acme', unique('pool'));
    const id = await makeProject(server, 'acme', unique('project'));
    const settings = { 'default-execution-mode': 'agent', 'default-agent-pool-id': pool };
    expectStatus(await server.patch(`/api/v2/projects/${id}`, resource('projects', settings)), 200);
    await remove(`projects/${id}`);
    await remove(`agent-pools/${pool}`);
    const { changes } = expectStatus(await recoverItem(server, id), 200).body.data.attributes;
    expect(changes.map(({ field }: { field: string }) => field)).toEqual(['default-agent-pool']);
    expect((await get(`projects/${id}`)).data.attributes['default-execution-mode']).toBe('remote');
  });

  it('keeps a variable set that was deleted before it until the project is back', async () => {
    const id = await makeProject(server, 'acme', unique('project'));
    const set = await makeSet(id);
    await remove(`varsets/${set}`);
    await remove(`projects/${id}`);
    const refused = expectStatus(await recoverItem(server, set), 422);
    expect(refused.body.errors[0].detail).toContain('recover the project first');
    expectStatus(await recoverItem(server, id), 200);
    expectStatus(await recoverItem(server, set), 200);
  });

  it('is recovered by callers that may delete it, and hidden from others', async () => {
    const [admins, readers] = [await makeTeam(server, 'acme', 'admins'), await makeTeam(server, 'acme', 'readers')];
    const [admin, reader] = [
      await makeMember(server, 'acme', 'ada', [admins]),
      await makeMember(server, 'acme', 'rita', [readers]),
    ];
    const id = await makeProject(server, 'acme', unique('project'));
    await grantProjectAccess(server, admins, id, 'admin');
    await grantProjectAccess(server, readers, id, 'read');
    await remove(`projects/${id}`);
    expect((await listRecoverable(reader, 'acme')).map((item) => item.id)).not.toContain(id);
    expect([(await recoverItem(reader, id)).status, (await purgeItem(reader, id)).status]).toEqual([404, 404]);
    expect((await listRecoverable(admin, 'acme')).map((item) => item.id)).toContain(id);
    expectStatus(await recoverItem(admin, id), 200);
    expectStatus(await recoverItem(admin, id), 409);
  });

  it('is removed with everything when its time is over, by an owner, or with its organization', async () => {
    const [expired, purged] = [await makeFull(), await makeFull()];
    await remove(`projects/${purged.id}`);
    expectStatus(await purgeItem(server, purged.id), 204);
    expectStatus(await recoverItem(server, purged.id), 404);
    await remove(`projects/${expired.id}`);
    clock.pass({ seconds: 30 * 86_400 });
    await runJobOnce(createExpiredVariableSetsJob(server.store, clock, server.runtime.ids));
    // A set that was deleted with its project ends with it.
    expect(await runJobOnce(createExpiredVariableSetsJob(server.store, clock, server.runtime.ids))).toBe(0);
    await runJobOnce(createExpiredProjectsJob(server.store, clock, server.runtime.ids));
    expect(await Promise.all([expired, purged].map(({ id }) => countRows(id)))).toEqual([0, 0]);
    expect(await Promise.all([expired, purged].map(({ secret }) => countSecrets(secret)))).toEqual([0, 0]);
    await makeOrganization(server, 'leaving');
    const id = await makeProject(server, 'leaving', 'one');
    await remove(`projects/${id}`);
    await remove('organizations/leaving');
    expect(await countRows(id)).toBe(0);
  });

  it('leaves views that match the log', async () => {
    await remove(`projects/${(await makeFull()).id}`);
    await expectViewsMatchLog(server, [
      organizationsDefinition,
      variablesDefinition,
      peopleDefinition,
      agentsDefinition,
    ]);
  });
});
