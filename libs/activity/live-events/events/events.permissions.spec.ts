import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { SESSION_COOKIE } from '#api/access';
import { AdjustableClock } from '../../../../test/support/clocks.js';
import { listChanges, mark, readAll, StreamReader } from '../../../../test/support/live-streams.js';
import {
  bindTags,
  expectStatus,
  grantProjectAccess,
  grantWorkspaceAccess,
  makeMember,
  makeOrganization,
  makeOrganizationToken,
  makeProject,
  makeRun,
  makeConfigurationVersion,
  makeTeam,
  makeToken,
  makeWorkspace,
  related,
  resource,
  type SeededMember,
} from '../../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import { startTestSession } from '../../../../test/support/sessions.js';
import { newStateVersion, stateFile } from '../../../../test/support/state-file.js';
import { expectViewsMatchLog } from '../../../../test/support/views-match-log.js';
import { makeWorkloadIdentity } from '../../../../test/support/workload-identities.js';
import { liveEventsDefinition } from '../live-events.module.js';

let server: TestServer;
const clock = new AdjustableClock();
const opened: StreamReader[] = [];

beforeAll(async () => {
  server = await startTestServer({ clock });
});
afterEach(() => {
  for (const reader of opened.splice(0)) reader.close();
  clock.offsetMs = 0;
});
afterAll(() => server.close());

const open = async (organization: string, token: string, lastEventId: string | null = null): Promise<StreamReader> => {
  const reader = await StreamReader.open(server, organization, token, { lastEventId });
  opened.push(reader);
  if (lastEventId === null) await reader.until(({ messages }) => messages.length > 0);
  return reader;
};

/** Creates an organization with a member of a team that has no access yet. */
const seed = async (name: string, teamAttributes: object = {}) => {
  const organization = await makeOrganization(server, name);
  const team = await makeTeam(server, name, 'builders', { visibility: 'organization', ...teamAttributes });
  const ada = await makeMember(server, name, `ada-${name}`, [team]);
  return { organization, team, ada };
};

const lock = async (workspace: string): Promise<void> => {
  expectStatus(await server.post(`/api/v2/workspaces/${workspace}/actions/lock`), 200);
  expectStatus(await server.post(`/api/v2/workspaces/${workspace}/actions/unlock`), 200);
};

const moveTo = async (project: string, ...workspaces: readonly string[]): Promise<void> => {
  const path = `/api/v2/projects/${project}/relationships/workspaces`;
  expectStatus(await server.post(path, related('workspaces', ...workspaces)), 204);
};

const removeFromTeam = async (team: string, { username }: SeededMember): Promise<void> => {
  expectStatus(await server.delete(`/api/v2/teams/${team}/relationships/users`, related('users', username)), 204);
};

describe('a member without access', () => {
  it('gets messages about the organization, its people and its visible teams, and about nothing else', async () => {
    const { organization, ada, team } = await seed('mill');
    const reader = await open('mill', ada.token);
    const workspace = await makeWorkspace(server, 'mill', 'one');
    await lock(workspace);
    await makeProject(server, 'mill', 'wheel');
    await bindTags(server, `workspaces/${workspace}`, { owner: 'miller' });
    const { membership } = await makeMember(server, 'mill', 'bob-mill');
    const secret = await makeTeam(server, 'mill', 'secret', { visibility: 'secret' });
    const visible = await makeTeam(server, 'mill', 'visible', { visibility: 'organization' });
    expectStatus(
      await server.patch('/api/v2/organizations/mill', resource('organizations', { email: 'x@mill.test' })),
      200,
    );
    await makeToken(server, `/api/v2/teams/${team}/authentication-token`);
    // A message about a team that was deleted meanwhile would reach nobody but managers of teams.
    await reader.until(await mark(server, 'mill'));
    expectStatus(await server.delete(`/api/v2/teams/${secret}`), 204);
    expectStatus(await server.delete(`/api/v2/teams/${visible}`), 204);
    expectStatus(await server.delete(`/api/v2/workspaces/${workspace}`), 204);
    expect(await readAll(reader, server, 'mill')).toEqual([
      `created organization-memberships ${membership} MembershipCreated`,
      `changed organization-memberships ${membership} MembershipAccepted`,
      `created teams ${visible} TeamCreated`,
      `changed organizations ${organization.id} OrganizationUpdated`,
      `deleted teams ${visible} TeamDeleted`,
    ]);
  });

  it('gets 404, as for an unknown organization, if it is an organization of others', async () => {
    const { ada } = await seed('barn');
    await makeOrganization(server, 'stable');
    for (const name of ['stable', 'no-such-organization']) {
      const { statusCode } = await StreamReader.request(server, name, ada.token);
      expect(statusCode).toBe(404);
    }
  });
});

describe('a member whose team gets access to a workspace', () => {
  it('gets a message that its access has changed, then messages about this workspace, and none after it has lost it', async () => {
    const { ada, team } = await seed('forge');
    const [mine, others] = [
      await makeWorkspace(server, 'forge', 'mine'),
      await makeWorkspace(server, 'forge', 'others'),
    ];
    const reader = await open('forge', ada.token);
    await lock(mine);
    await reader.until(await mark(server, 'forge'));
    const access = await grantWorkspaceAccess(server, team, mine, 'read');
    await lock(mine);
    await lock(others);
    await reader.until(await mark(server, 'forge'));
    expectStatus(await server.delete(`/api/v2/team-workspaces/${access}`), 204);
    await lock(mine);
    expect(await readAll(reader, server, 'forge')).toEqual([
      `access team-workspaces ${access} TeamWorkspaceAdded`,
      `changed workspaces ${mine} WorkspaceLocked`,
      `changed workspaces ${mine} WorkspaceUnlocked`,
      'access TeamWorkspaceRemoved',
    ]);
  });

  it('gets messages about runs, states and variables as its level allows', async () => {
    const { ada, team } = await seed('quarry');
    const workspace = await makeWorkspace(server, 'quarry', 'one');
    const custom = {
      access: 'custom',
      runs: 'read',
      variables: 'none',
      'state-versions': 'none',
      'sentinel-mocks': 'none',
    };
    const relationships = {
      team: { data: { type: 'teams', id: team } },
      workspace: { data: { type: 'workspaces', id: workspace } },
    };
    expectStatus(await server.post('/api/v2/team-workspaces', resource('team-workspaces', custom, relationships)), 201);
    const [limited, complete] = [await open('quarry', ada.token), await open('quarry', server.adminToken)];
    const variable = expectStatus(
      await server.post(
        `/api/v2/workspaces/${workspace}/vars`,
        resource('vars', { key: 'k', value: 'v', category: 'env' }),
      ),
      201,
    ).body.data.id as string;
    const configuration = await makeConfigurationVersion(server, workspace);
    expectStatus(await server.post(`/api/v2/workspaces/${workspace}/actions/lock`), 200);
    const body = newStateVersion(stateFile(), { inline: true });
    const state = expectStatus(await server.post(`/api/v2/workspaces/${workspace}/state-versions`, body), 201).body.data
      .id as string;
    expectStatus(await server.post(`/api/v2/workspaces/${workspace}/actions/unlock`), 200);
    const run = await makeRun(server, workspace);
    const runs = [
      `created configuration-versions ${configuration} ConfigurationVersionCreated`,
      `changed configuration-versions ${configuration} ConfigurationVersionUploaded`,
      `created runs ${run} RunCreated`,
    ];
    const received = await readAll(limited, server, 'quarry');
    expect(received.filter((text) => !text.includes('workspaces '))).toEqual(expect.arrayContaining(runs));
    expect(received.filter((text) => text.includes('StateVersion'))).toEqual([
      `changed workspaces ${workspace} StateVersionCreated`,
      `changed workspaces ${workspace} StateVersionFinalized`,
      `changed workspaces ${workspace} StateVersionPromoted`,
    ]);
    expect(JSON.stringify(limited.messages)).not.toContain(variable);
    expect(JSON.stringify(limited.messages)).not.toContain(state);
    const all = await readAll(complete, server, 'quarry');
    expect(all).toEqual(expect.arrayContaining([`created vars ${variable} VariableCreated`, ...runs]));
    expect(all).toContain(`created state-versions ${state} StateVersionCreated`);
  });
});

describe('a workspace that a member could read', () => {
  it('is reported as deleted, also to a member that connects afterwards and to no other member', async () => {
    const { ada, team } = await seed('kiln');
    const stranger = await makeMember(server, 'kiln', 'eve-kiln');
    const project = await makeProject(server, 'kiln', 'bricks');
    const [one, two, other] = [
      await makeWorkspace(server, 'kiln', 'one'),
      await makeWorkspace(server, 'kiln', 'two'),
      await makeWorkspace(server, 'kiln', 'other'),
    ];
    await moveTo(project, two);
    await grantWorkspaceAccess(server, team, one, 'read');
    await grantProjectAccess(server, team, project, 'read');
    const reader = await open('kiln', ada.token);
    const strange = await open('kiln', stranger.token);
    const start = reader.lastEventId;
    for (const workspace of [one, two, other]) {
      expectStatus(await server.delete(`/api/v2/workspaces/${workspace}`), 204);
    }
    const deleted = [`deleted workspaces ${one} WorkspaceDeleted`, `deleted workspaces ${two} WorkspaceDeleted`];
    expect(await readAll(reader, server, 'kiln')).toEqual(deleted);
    expect(await readAll(strange, server, 'kiln')).toEqual([]);
    expectStatus(await server.delete(`/api/v2/projects/${project}`), 204);
    const [again, strangeAgain] = [await open('kiln', ada.token, start), await open('kiln', stranger.token, start)];
    expect(await readAll(again, server, 'kiln')).toEqual([...deleted, `deleted projects ${project} ProjectDeleted`]);
    expect(await readAll(strangeAgain, server, 'kiln')).toEqual([]);
  });

  it('is reported in the project that it has left if the member cannot read the new one', async () => {
    const { ada, team } = await seed('dairy');
    const [from, to] = [await makeProject(server, 'dairy', 'from'), await makeProject(server, 'dairy', 'to')];
    const workspace = await makeWorkspace(server, 'dairy', 'one');
    await moveTo(from, workspace);
    await grantProjectAccess(server, team, from, 'read');
    const reader = await open('dairy', ada.token);
    await moveTo(to, workspace);
    await lock(workspace);
    expect(await readAll(reader, server, 'dairy')).toEqual([`changed workspaces ${workspace} WorkspaceMoved`]);
    expect(reader.messages.find(({ data }) => data.type === 'WorkspaceMoved')?.data).toMatchObject({ project: from });
    expect(JSON.stringify(reader.messages)).not.toContain(to);
  });
});

describe('variable sets', () => {
  it('are reported to callers that may read them, also for changes of their variables', async () => {
    const { ada, team } = await seed('bakery');
    const project = await makeProject(server, 'bakery', 'bread');
    await grantProjectAccess(server, team, project, 'maintain');
    const makeSet = async (name: string, relationships: object) =>
      expectStatus(
        await server.post(
          '/api/v2/organizations/bakery/varsets',
          resource('varsets', { name, global: false }, relationships),
        ),
        201,
      ).body.data.id as string;
    const reader = await open('bakery', ada.token);
    await makeSet('ours', { parent: { data: { type: 'organizations', id: 'bakery' } } });
    const set = await makeSet('theirs', { parent: { data: { type: 'projects', id: project } } });
    const variable = expectStatus(
      await server.post(
        `/api/v2/varsets/${set}/relationships/vars`,
        resource('vars', { key: 'k', value: 'v', category: 'env' }),
      ),
      201,
    ).body.data.id as string;
    const vars = `/api/v2/varsets/${set}/relationships/vars/${variable}`;
    expectStatus(await server.patch(vars, resource('vars', { value: 'w' })), 200);
    expectStatus(await server.delete(vars), 204);
    expectStatus(await server.delete(`/api/v2/varsets/${set}`), 204);
    expect(await readAll(reader, server, 'bakery')).toEqual([
      `created varsets ${set} VariableSetCreated`,
      `changed varsets ${set} VariableCreated`,
      `changed varsets ${set} VariableUpdated`,
      `changed varsets ${set} VariableDeleted`,
      `deleted varsets ${set} VariableSetDeleted`,
    ]);
  });
});

describe('teams', () => {
  it('are reported to their members, also if they are secret, and their deletion changes the access of the members', async () => {
    const { ada, team } = await seed('tannery', { visibility: 'secret' });
    const stranger = await makeMember(server, 'tannery', 'eve-tannery');
    const [member, outside] = [await open('tannery', ada.token), await open('tannery', stranger.token)];
    expectStatus(await server.patch(`/api/v2/teams/${team}`, resource('teams', { name: 'renamed' })), 200);
    await member.until(await mark(server, 'tannery'));
    expectStatus(await server.delete(`/api/v2/teams/${team}`), 204);
    expect(await readAll(member, server, 'tannery')).toEqual([
      `access teams ${team} TeamUpdated`,
      `access teams ${team} TeamDeleted`,
    ]);
    expect(await readAll(outside, server, 'tannery')).toEqual([]);
  });

  it('change the access of a user who is added or removed', async () => {
    const { ada, team } = await seed('weavery');
    const other = await makeTeam(server, 'weavery', 'others', { visibility: 'secret' });
    const workspace = await makeWorkspace(server, 'weavery', 'one');
    await grantWorkspaceAccess(server, other, workspace, 'read');
    const reader = await open('weavery', ada.token);
    const members = `/api/v2/teams/${other}/relationships/users`;
    expectStatus(await server.post(members, related('users', ada.username)), 204);
    await lock(workspace);
    await reader.until(await mark(server, 'weavery'));
    await removeFromTeam(other, ada);
    await lock(workspace);
    await removeFromTeam(team, ada);
    expect(await readAll(reader, server, 'weavery')).toEqual([
      `access teams ${other} TeamMemberAdded`,
      `changed workspaces ${workspace} WorkspaceLocked`,
      `changed workspaces ${workspace} WorkspaceUnlocked`,
      'access TeamMemberRemoved',
      `access teams ${team} TeamMemberRemoved`,
    ]);
  });
});

describe('workload identities', () => {
  it('are reported to callers that may manage the tokens of their team, and to nobody else', async () => {
    const { ada, team } = await seed('foundry', { 'allow-member-token-management': true });
    const eve = await makeMember(server, 'foundry', 'eve-foundry');
    const [member, outside] = [await open('foundry', ada.token), await open('foundry', eve.token)];
    const owner = await open('foundry', server.adminToken);
    const identity = await makeWorkloadIdentity(server, team, 'ci');
    const path = `/api/v2/workload-identities/${identity}`;
    const patch = resource('workload-identities', { description: 'builds' });
    expectStatus(await server.patch(path, patch), 200);
    const own = [
      `created workload-identities ${identity} WorkloadIdentityCreated`,
      `changed workload-identities ${identity} WorkloadIdentityUpdated`,
    ];
    expect(await readAll(member, server, 'foundry')).toEqual(own);
    const closed = resource('teams', { 'allow-member-token-management': false });
    expectStatus(await server.patch(`/api/v2/teams/${team}`, closed), 200);
    expectStatus(await server.delete(path), 204);
    const changed = [...own, `access teams ${team} TeamUpdated`];
    expect(await readAll(member, server, 'foundry')).toEqual(changed);
    expect(await readAll(outside, server, 'foundry')).toEqual([`changed teams ${team} TeamUpdated`]);
    expect(await readAll(owner, server, 'foundry')).toEqual([
      ...own,
      `changed teams ${team} TeamUpdated`,
      `deleted workload-identities ${identity} WorkloadIdentityDeleted`,
    ]);
  });

  it('of the owners team are reported to owners only', async () => {
    const { organization, ada } = await seed('printworks', { 'organization-access': { 'manage-teams': true } });
    const [manager, owner] = [await open('printworks', ada.token), await open('printworks', server.adminToken)];
    const identity = await makeWorkloadIdentity(server, organization.ownersTeam, 'ci');
    expect(await readAll(manager, server, 'printworks')).toEqual([]);
    expect(await readAll(owner, server, 'printworks')).toEqual([
      `created workload-identities ${identity} WorkloadIdentityCreated`,
    ]);
  });
});

describe('a stream ends with the reason if the caller loses access, with the next message', () => {
  it('to the organization', async () => {
    const { ada } = await seed('smithy');
    const reader = await open('smithy', ada.token);
    expectStatus(await server.delete(`/api/v2/organization-memberships/${ada.membership}`), 204);
    expect(await reader.endReason()).toBe('access');
    expect(listChanges(reader)).toEqual([]);
    expect((await StreamReader.request(server, 'smithy', ada.token)).statusCode).toBe(404);
  });

  it('because the token is revoked', async () => {
    const { organization } = await seed('brewery');
    const token = await makeOrganizationToken(server, 'brewery');
    const reader = await open('brewery', token);
    expectStatus(await server.delete('/api/v2/organizations/brewery/authentication-token'), 204);
    await mark(server, organization.name);
    expect(await reader.endReason()).toBe('access');
    expect((await StreamReader.request(server, 'brewery', token)).statusCode).toBe(401);
  });

  it('because the token expires', async () => {
    const { ada } = await seed('winery');
    const expires = { 'expired-at': new Date(clock.now().getTime() + 60_000).toISOString() };
    const path = `/api/v2/users/${ada.id}/authentication-tokens`;
    const { body } = expectStatus(await server.post(path, resource('authentication-tokens', expires)), 201);
    const reader = await open('winery', body.data.attributes.token as string);
    clock.pass({ minutes: 2 });
    await mark(server, 'winery');
    expect(await reader.endReason()).toBe('access');
  });

  it('because the user is suspended', async () => {
    const { ada } = await seed('saltworks');
    const reader = await open('saltworks', ada.token);
    expectStatus(await server.post(`/api/v2/admin/users/${ada.id}/actions/suspend`), 200);
    await mark(server, 'saltworks');
    expect(await reader.endReason()).toBe('access');
  });

  it('because the session ends', async () => {
    const { ada } = await seed('glassworks');
    const { secret, id: session } = await startTestSession(server, ada.id);
    const response = await StreamReader.request(server, 'glassworks', null, {
      headers: { cookie: `${SESSION_COOKIE}=${secret}` },
    });
    const reader = new StreamReader(response);
    opened.push(reader);
    await reader.until(await mark(server, 'glassworks'));
    expectStatus(await ada.delete(`/api/v2/sessions/${session}`), 204);
    await mark(server, 'glassworks');
    expect(await reader.endReason()).toBe('access');
  });

  it('because the organization is deleted, also for administrators of the site', async () => {
    const { organization, ada } = await seed('ropewalk');
    const [member, admin] = [await open('ropewalk', ada.token), await open('ropewalk', server.adminToken)];
    expectStatus(await server.delete('/api/v2/organizations/ropewalk'), 204);
    expect(await member.endReason()).toBe('access');
    expect(await admin.endReason()).toBe('deleted');
    expect(listChanges(admin)).toEqual([`deleted organizations ${organization.id} OrganizationDeleted`]);
  });
});

describe('a session', () => {
  it('is not used by a stream, so that the session of an absent person ends', async () => {
    const { ada } = await seed('tower');
    const { secret } = await startTestSession(server, ada.id);
    const headers = { cookie: `${SESSION_COOKIE}=${secret}` };
    for (const hours of [7, 14]) {
      clock.offsetMs = hours * 3_600_000;
      const response = await StreamReader.request(server, 'tower', null, { headers });
      opened.push(new StreamReader(response));
      await server.uses.flush();
      expect([hours, response.statusCode]).toEqual([hours, hours === 7 ? 200 : 401]);
    }
  });
});

describe('the view of granted scopes', () => {
  it('equals a view that is computed from the log', async () => {
    await expectViewsMatchLog(server, [liveEventsDefinition]);
  });
});
