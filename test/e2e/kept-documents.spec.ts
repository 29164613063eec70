import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { rebuildView } from '#storage/event-store';
import { sql } from '#platform/kernel';
import { views } from '../../apps/modules.js';
import { costOf } from '../support/cost.js';
import { countHits } from '../support/kept-documents.js';
import {
  bindTags,
  expectStatus,
  flatTags,
  grantProjectAccess,
  grantWorkspaceAccess,
  makeAgentPool,
  makeConfigurationVersion,
  makeMember,
  makeOrganization,
  makeProject,
  makeRun,
  makeTeam,
  makeToken,
  makeWorkspace,
  resource,
  type SeededMember,
  type SeededOrganization,
} from '../support/seeds.js';
import {
  startAnotherGateway,
  startTestServer,
  type ApiResponse,
  type ApiTestClient,
  type TestGateway,
  type TestServer,
} from '../support/server.js';
import { newStateVersion, stateFile } from '../support/state-file.js';

// The first gateway keeps documents. Each test changes something through the second gateway, and compares the next
// responses of the first one with those of a third, which keeps none.

let first: TestServer;
let second: TestGateway;
let plain: TestGateway;
let number = 0;

beforeAll(async () => {
  first = await startTestServer();
  second = await startAnotherGateway(first);
  plain = await startAnotherGateway(first, { documentCacheBytes: null });
});

afterAll(async () => {
  await second.close();
  await plain.close();
  await first.close();
});

/** An organization with a workspace, and a member who reads it through a team. */
type World = {
  readonly organization: SeededOrganization;
  readonly project: string;
  readonly workspace: string;
  readonly team: string;
  readonly access: string;
  readonly member: SeededMember;
};

let world: World;

beforeEach(async () => {
  const name = `acme-${(number += 1)}`;
  const organization = await makeOrganization(second, name);
  const project = await makeProject(second, name, 'ours');
  const workspace = await makeWorkspace(
    second,
    name,
    'kept',
    {},
    { project: { data: { type: 'projects', id: project } } },
  );
  const team = await makeTeam(second, name, 'readers');
  const access = await grantWorkspaceAccess(second, team, workspace, 'write');
  const member = await makeMember(second, name, `member-${number}`, [team]);
  world = { organization, project, workspace, team, access, member };
});

const listPaths = ({ organization, workspace }: World): readonly string[] => [
  `/api/v2/workspaces/${workspace}`,
  `/api/v2/organizations/${organization.name}/workspaces/kept`,
  `/api/v2/organizations/${organization.name}/workspaces`,
  `/api/v2/organizations/${organization.name}/workspaces?search%5Bname%5D=kept`,
];

/** What callers see: the responses to the administrator and to the member. */
const readAll = (gateway: ApiTestClient): Promise<readonly ApiResponse[]> =>
  Promise.all(listPaths(world).flatMap((path) => [gateway.get(path), gateway.as(world.member.token).get(path)]));

const show = (answers: readonly ApiResponse[]) => answers.map(({ status, text }) => ({ status, text }));

/**
 * Reads until the first gateway answers all requests from memory: it identifies the callers, keeps the documents, and
 * finds that the events of the setup may have changed them. Returns the responses.
 */
const keepAll = async (): Promise<readonly ApiResponse[]> => {
  for (let round = 1; round <= 3; round += 1) await readAll(first);
  let answers: readonly ApiResponse[] = [];
  expect(await countHits(async () => (answers = await readAll(first)))).toBe(8);
  return answers;
};

const ok = async (answer: Promise<ApiResponse>): Promise<ApiResponse> => {
  const { status, text } = await answer;
  if (status >= 300) throw new Error(`${status} ${text}`);
  return answer;
};

const update = (attributes: object, relationships?: object) =>
  ok(second.patch(`/api/v2/workspaces/${world.workspace}`, resource('workspaces', attributes, relationships)));

const makeVariable = async (key: string): Promise<string> =>
  (await ok(second.post(`/api/v2/workspaces/${world.workspace}/vars`, resource('vars', { key, category: 'env' })))).body
    .data.id as string;

const act = (action: string) => ok(second.post(`/api/v2/workspaces/${world.workspace}/actions/${action}`));

const makeKey = async (): Promise<string> =>
  (
    await ok(
      second.post(
        `/api/v2/organizations/${world.organization.name}/ssh-keys`,
        resource('ssh-keys', { name: 'key', value: 'secret' }),
      ),
    )
  ).body.data.id as string;

const assignKey = (id: string) =>
  ok(second.patch(`/api/v2/workspaces/${world.workspace}/relationships/ssh-key`, resource('workspaces', { id })));

const makeState = async (): Promise<void> => {
  await act('lock');
  const outputs = { open: { value: 1, type: 'number' } };
  const state = newStateVersion(stateFile({ outputs }), { inline: true });
  await ok(second.post(`/api/v2/workspaces/${world.workspace}/state-versions`, state));
};

const setPolicy = (of: string) =>
  ok(
    second.post(
      `/api/v2/${of}/relationships/data-retention-policy`,
      resource('data-retention-policy-delete-olders', { 'delete-older-than-n-days': 7 }),
    ),
  );

/** Prepares what the change needs, and returns the change. */
type Change = () => Promise<() => Promise<unknown>>;

const at =
  (change: () => Promise<unknown>): Change =>
  async () =>
    change;

const changes: Readonly<Record<string, Change>> = {
  'is updated': at(() => update({ description: 'new' })),
  'is renamed': at(() => update({ name: 'renamed' })),
  'is locked': at(() => act('lock')),
  'is unlocked': async () => {
    await act('lock');
    return () => act('unlock');
  },
  'is moved': at(() => update({}, { project: { data: { type: 'projects', id: world.organization.defaultProject } } })),
  'is deleted': at(() => ok(second.delete(`/api/v2/workspaces/${world.workspace}`))),
  'gets a tag': at(() => ok(second.post(`/api/v2/workspaces/${world.workspace}/relationships/tags`, flatTags('flat')))),
  'loses a tag': async () => {
    const path = `/api/v2/workspaces/${world.workspace}/relationships/tags`;
    await ok(second.post(path, flatTags('flat')));
    return () => ok(second.delete(path, flatTags('flat')));
  },
  'gets a tag binding': at(() => bindTags(second, `workspaces/${world.workspace}`, { key: 'value' })),
  'gets a variable': at(() => makeVariable('A')),
  'gets its variables in another order': async () => {
    const [variable] = [await makeVariable('A'), await makeVariable('B')];
    const path = `/api/v2/workspaces/${world.workspace}/vars/${variable}`;
    return () => ok(second.patch(path, resource('vars', { key: 'C' })));
  },
  'loses a variable': async () => {
    const path = `/api/v2/workspaces/${world.workspace}/vars/${await makeVariable('A')}`;
    return () => ok(second.delete(path));
  },
  'gets a configuration version': at(() => makeConfigurationVersion(second, world.workspace)),
  'gets a run': async () => {
    await makeConfigurationVersion(second, world.workspace);
    return () => makeRun(second, world.workspace);
  },
  'gets metrics at the end of a run': async () => {
    await makeConfigurationVersion(second, world.workspace);
    const run = await makeRun(second, world.workspace);
    return () => ok(second.post(`/api/v2/runs/${run}/actions/cancel`));
  },
  'gets a state with outputs': at(makeState),
  'gets an SSH key': async () => {
    const key = await makeKey();
    return () => assignKey(key);
  },
  'loses its SSH key with the key': async () => {
    const key = await makeKey();
    await assignKey(key);
    return () => ok(second.delete(`/api/v2/ssh-keys/${key}`));
  },
  'gets a data retention policy': at(() => setPolicy(`workspaces/${world.workspace}`)),
  'gets an agent pool': async () => {
    const pool = await makeAgentPool(second, world.organization.name, 'pool');
    return () => update({ 'execution-mode': 'agent', 'agent-pool-id': pool });
  },
  'inherits another execution mode from its project': at(() =>
    ok(
      second.patch(
        `/api/v2/projects/${world.project}`,
        resource('projects', {
          'default-execution-mode': 'local',
          'setting-overwrites': { 'default-execution-mode': true },
        }),
      ),
    ),
  ),
  'inherits another execution mode from its organization': at(() =>
    ok(
      second.patch(
        `/api/v2/organizations/${world.organization.name}`,
        resource('organizations', { 'default-execution-mode': 'local' }),
      ),
    ),
  ),
  'belongs to an organization that is renamed': at(() =>
    ok(
      second.patch(
        `/api/v2/organizations/${world.organization.name}`,
        resource('organizations', { name: `${world.organization.name}-renamed` }),
      ),
    ),
  ),
  'belongs to an organization that is deleted': at(() =>
    ok(second.delete(`/api/v2/organizations/${world.organization.name}`)),
  ),
  'can be force-deleted by its administrators': at(() =>
    ok(
      second.patch(
        `/api/v2/organizations/${world.organization.name}`,
        resource('organizations', { 'allow-force-delete-workspaces': true }),
      ),
    ),
  ),
  'is given to a team with another level': at(() =>
    ok(second.patch(`/api/v2/team-workspaces/${world.access}`, resource('team-workspaces', { access: 'read' }))),
  ),
  'is taken from a team': at(() => ok(second.delete(`/api/v2/team-workspaces/${world.access}`))),
  'is given to a team with its project': at(() => grantProjectAccess(second, world.team, world.project, 'admin')),
  'was given to a team that is deleted': at(() => ok(second.delete(`/api/v2/teams/${world.team}`))),
};

describe('a kept workspace is shown as it is at once if it', () => {
  it.each(Object.entries(changes))('%s', async (title, prepare) => {
    const change = await prepare();
    if (title === 'can be force-deleted by its administrators') {
      await ok(
        second.patch(`/api/v2/team-workspaces/${world.access}`, resource('team-workspaces', { access: 'admin' })),
      );
    }
    const before = show(await keepAll());
    await change();
    const after = show(await readAll(first));
    expect(after).toEqual(show(await readAll(plain)));
    expect(after).not.toEqual(before);
  });
});

describe('a kept document', () => {
  it('is sent with the same bytes, status and headers as one that is read, except its request id', async () => {
    const { workspace } = world;
    const listHeaders = ({ headers }: ApiResponse) =>
      Object.fromEntries([...headers].filter(([name]) => !['x-request-id', 'date'].includes(name)));
    const read = await plain.get(`/api/v2/workspaces/${workspace}`);
    await keepAll();
    const answer = await first.get(`/api/v2/workspaces/${workspace}`);
    expect([answer.status, answer.text, listHeaders(answer)]).toEqual([read.status, read.text, listHeaders(read)]);
    expect(answer.headers.get('x-request-id')).not.toBe(read.headers.get('x-request-id'));
  });

  it('takes one statement, which requests that arrive together share', async () => {
    await keepAll();
    const path = `/api/v2/workspaces/${world.workspace}`;
    expect(
      await costOf(first, async () => {
        await first.get(path);
        return first.get(path);
      }),
    ).toMatchObject({ status: 200, statements: 2 });
  });

  it.each([
    [
      'a revoked token',
      401,
      async () => {
        const { data } = (
          await second.as(world.member.token).get(`/api/v2/users/${world.member.id}/authentication-tokens`)
        ).body;
        await ok(second.delete(`/api/v2/authentication-tokens/${data[0].id}`));
      },
    ],
    [
      'a member who has been removed',
      404,
      () => ok(second.delete(`/api/v2/organization-memberships/${world.member.membership}`)),
    ],
    ['a user who has been forgotten', 401, () => ok(second.delete(`/api/v2/admin/users/${world.member.id}`))],
  ] as const)('is not shown to %s', async (_, status, change) => {
    await keepAll();
    await change();
    expect((await first.as(world.member.token).get(`/api/v2/workspaces/${world.workspace}`)).status).toBe(status);
  });

  it('is not shown to another caller', async () => {
    await keepAll();
    const stranger = await makeMember(
      second,
      (await makeOrganization(second, `other-${number}`)).name,
      `stranger-${number}`,
    );
    expect((await first.as(stranger.token).get(`/api/v2/workspaces/${world.workspace}`)).status).toBe(404);
  });

  it('is read again after its view was rebuilt', async () => {
    await keepAll();
    const { store } = first;
    await store.database.rows(sql`update workspaces set name = 'wrong' where id = ${world.workspace}`);
    const view = views.find(({ name }) => name === 'workspaces');
    if (!view) throw new Error('there is no view of workspaces');
    const path = `/api/v2/workspaces/${world.workspace}`;
    await first.get(`${path}?include=project`);
    await rebuildView(store, view, { now: new Date() });
    expect((await first.get(path)).body.data.attributes.name).toBe('kept');
  });

  it('is read again after a person was forgotten whose name it may contain', async () => {
    await keepAll();
    const doomed = await makeMember(second, world.organization.name, `doomed-${number}`);
    await ok(second.delete(`/api/v2/admin/users/${doomed.id}`));
    expect(await countHits(() => readAll(first))).toBe(0);
  });

  it('is not kept if the address has parameters', async () => {
    const path = `/api/v2/workspaces/${world.workspace}?include=project`;
    expect(
      await countHits(async () => {
        await first.get(path);
        expect((await first.get(path)).body.included).toHaveLength(1);
      }),
    ).toBe(0);
  });

  it('is not used for HEAD', async () => {
    await keepAll();
    const token = await makeToken(second, `/api/v2/organizations/${world.organization.name}/authentication-token`);
    const head = await fetch(`${first.url}/api/v2/workspaces/${world.workspace}`, {
      method: 'HEAD',
      headers: { authorization: `Bearer ${token}` },
    });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  it('is identified by its exact address', async () => {
    const other = await makeWorkspace(second, world.organization.name, 'other');
    await keepAll();
    const { body } = expectStatus(await first.get(`/api/v2/workspaces/${other}`), 200);
    expect(body.data.id).toBe(other);
  });
});
