import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { sql } from '#platform/kernel';
import { startSession } from '#identity/people';
import { createPersonContext } from '#api/access';
import { AdjustableClock } from '../../../../test/support/clocks.js';
import { readWholeLog } from '../../../../test/support/event-log.js';
import { startIdentityProvider, type TestIdentityProvider } from '../../../../test/support/identity-provider.js';
import { addIdentityProvider } from '../../../../test/support/identity-providers.js';
import { OidcVisitor } from '../../../../test/support/oidc-visitor.js';
import { runJobOnce } from '../../../../test/support/scheduled-jobs.js';
import { expectStatus, makeOrganization, makeTeam, resource } from '../../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import { signInByLink } from '../../../../test/support/sign-in.js';
import { createProviderAccessJob } from './provider-access.job.js';
import { ProvisionedUsers } from './provisioned-users.port.js';

const clock = new AdjustableClock();
let server: TestServer;
let provider: TestIdentityProvider;
let acme: string;

beforeAll(async () => {
  [server, provider] = await Promise.all([startTestServer({ clock }), startIdentityProvider()]);
  acme = await addIdentityProvider(server, provider, { 'creates-users': true });
  await makeOrganization(server, 'company');
  for (const group of ['developers', 'operators']) await makeTeam(server, 'company', group, { 'sso-team-id': group });
});

afterAll(async () => {
  await provider.close();
  await server.close();
});

afterEach(() => {
  jest.restoreAllMocks();
});

const configure = async (attributes: object): Promise<void> => {
  const path = `/api/v2/admin/identity-providers/${acme}`;
  expectStatus(await server.patch(path, resource('identity-providers', attributes)), 200);
};

const runJob = (): Promise<number> => {
  const { store, ids } = server.runtime;
  return runJobOnce(createProviderAccessJob({ store, clock, ids }));
};

const signIn = async (subject: string, groups: readonly string[], id = acme): Promise<OidcVisitor> => {
  provider.putPerson(subject, { preferred_username: subject, groups });
  const visitor = new OidcVisitor(server);
  expect((await visitor.signIn(id, provider, subject)).status).toBe(303);
  return visitor;
};

const isSignedIn = async ({ client }: OidcVisitor) => (await client.get('/account')).status === 200;

const listTeams = async (username: string): Promise<readonly string[]> => {
  const rows = await server.database.rows<{ name: string }>(sql`
    select t.name from team_members m join teams t on t.id = m.team join users u on u.id = m.user_id
     where u.username = ${username} order by t.name`);
  return rows.map(({ name }) => name);
};

const findUserId = async (username: string): Promise<string> =>
  (await server.database.row<{ id: string }>(sql`select id from users where username = ${username}`))?.id ?? '';

/** Unlinks the only identity of a person, who then has a password. */
const unlink = async (username: string): Promise<void> => {
  const client = await signInByLink(server, await findUserId(username));
  expect((await client.post('/account/password', { password: 'four random words' })).status).toBe(303);
  const page = await (await client.get('/account')).text();
  const [, path = ''] = /action="(\/account\/identities\/[^"]+)"/.exec(page) ?? [];
  expect((await client.post(path)).headers.get('location')).toBe('/account?done=identity-unlinked');
};

const countStatements = async (): Promise<number> =>
  (await server.database.rows(sql`select 1 from identity_providers.stated_groups`)).length;

describe('an identity provider that is disabled', () => {
  it('ends the sessions that began with it, and no others', async () => {
    const ada = await signIn('ada', ['developers']);
    const elsewhere = await signInByLink(server, await findUserId('ada'));
    expect(await runJob()).toBe(0);
    await configure({ enabled: false });
    expect(await isSignedIn(ada)).toBe(true);
    await runJob();
    expect([await isSignedIn(ada), (await elsewhere.get('/account')).status]).toEqual([false, 200]);
    const ended = (await readWholeLog(server.store)).filter(({ type }) => type === 'SessionEnded');
    expect(ended.map(({ data }) => data)).toEqual([
      expect.objectContaining({ username: 'ada', reason: 'provider-disabled' }),
    ]);
    await configure({ enabled: true });
  });

  it('ends a session that starts at the same time', async () => {
    const { store, ids, settings } = server.runtime;
    await configure({ enabled: false });
    const start = { user: await findUserId('ada'), method: 'oidc', assurance: 'oidc', provider: acme } as const;
    await startSession({ store, ids, clock, sessionHours: settings.sessions.hours }, start, (person) =>
      createPersonContext(person, { id: null, address: null, userAgent: null }),
    );
    expect(await runJob()).toBe(1);
    await configure({ enabled: true });
  });

  it('takes away the teams of the groups that it stated, and no others', async () => {
    await signIn('bob', ['developers']);
    const { id } =
      (await server.database.row<{ id: string }>(sql`select id from teams where name = 'operators'`)) ?? {};
    const user = { data: [{ type: 'users', id: 'bob' }] };
    expectStatus(await server.post(`/api/v2/teams/${id}/relationships/users`, user), 204);
    await configure({ enabled: false });
    await runJob();
    expect(await listTeams('bob')).toEqual(['operators']);
    expect([await countStatements(), await runJob()]).toEqual([0, 0]);
    await configure({ enabled: true });
  });

  it('ends the access of others after one failure, and retries', async () => {
    const [ivan, jana] = [await signIn('ivan', ['developers']), await signIn('jana', ['developers'])];
    await configure({ enabled: false });
    const append = jest.spyOn(server.store, 'append').mockRejectedValueOnce(new Error('the disk is full'));
    await expect(runJob()).rejects.toThrow('Access from identity providers did not end: 1');
    append.mockRestore();
    const signedIn = [await isSignedIn(ivan), await isSignedIn(jana)];
    expect(signedIn.filter(Boolean)).toHaveLength(1);
    expect([await listTeams('ivan'), await listTeams('jana')]).toEqual([[], []]);
    expect(await runJob()).toBe(1);
    expect([await isSignedIn(ivan), await isSignedIn(jana)]).toEqual([false, false]);
    await configure({ enabled: true });
  });

  it('takes away teams that a sign-in adds at the same time', async () => {
    // The sign-in has read the enabled providers, and has not changed the teams yet.
    jest.spyOn(server.resolve(ProvisionedUsers), 'listGroups').mockImplementation(async () => {
      await configure({ enabled: false });
      await runJob();
      return [];
    });
    await signIn('gina', ['developers']);
    expect(await listTeams('gina')).toEqual(['developers']);
    await runJob();
    expect([await listTeams('gina'), await countStatements()]).toEqual([[], 0]);
    await configure({ enabled: true });
  });
});

describe('a deleted identity provider', () => {
  it('ends its sessions and the teams of its groups', async () => {
    const id = await addIdentityProvider(server, provider, {
      name: 'Short',
      'client-id': 'short',
      'creates-users': true,
    });
    const carol = await signIn('carol', ['developers'], id);
    expectStatus(await server.delete(`/api/v2/admin/identity-providers/${id}`), 204);
    await runJob();
    expect([await isSignedIn(carol), await listTeams('carol')]).toEqual([false, []]);
  });
});

describe('the groups of a person', () => {
  it('end when the person unlinks the identity', async () => {
    await signIn('dora', ['developers']);
    await unlink('dora');
    await runJob();
    expect([await listTeams('dora'), await countStatements()]).toEqual([[], 0]);
  });

  it('end when the person unlinks the identity of a provider that was deleted and added again', async () => {
    const settings = { name: 'Replaced', 'client-id': 'replaced', 'creates-users': true };
    const old = await addIdentityProvider(server, provider, settings);
    await signIn('hugo', ['developers'], old);
    expectStatus(await server.delete(`/api/v2/admin/identity-providers/${old}`), 204);
    await runJob();
    const id = await addIdentityProvider(server, provider, settings);
    await signIn('hugo', ['developers'], id);
    await unlink('hugo');
    await runJob();
    expect([await listTeams('hugo'), await countStatements()]).toEqual([[], 0]);
  });

  it('end 90 days after the last sign-in', async () => {
    await signIn('emil', ['developers']);
    clock.pass({ days: 89 });
    await runJob();
    expect(await listTeams('emil')).toEqual(['developers']);
    clock.pass({ days: 1 });
    await runJob();
    expect([await listTeams('emil'), await countStatements()]).toEqual([[], 0]);
  });

  it('stay while the provider maps no groups', async () => {
    clock.pass({ days: -90 });
    await signIn('frida', ['developers']);
    await configure({ 'maps-groups': false });
    await runJob();
    expect(await listTeams('frida')).toEqual(['developers']);
    await configure({ 'maps-groups': true });
  });

  it('decide about the teams also if the sign-in stops after it has stored them', async () => {
    const { ownersTeam } = await makeOrganization(server, 'owned');
    const body = resource('teams', { 'sso-team-id': 'chiefs' });
    expectStatus(await server.patch(`/api/v2/teams/${ownersTeam}`, body), 200);
    await configure({ 'mapped-groups': ['chiefs', 'dev*', 'operators'] });
    const ivo = await signIn('ivo', ['chiefs', 'developers']);
    expect(await listTeams('ivo')).toEqual(['developers', 'owners']);
    await configure({ 'mapped-groups': ['dev*', 'operators'] });
    // As if the process was killed: the sign-in stores the groups, and changes no team.
    jest.spyOn(server.resolve(ProvisionedUsers), 'listGroups').mockRejectedValueOnce(new Error('killed'));
    provider.putPerson('ivo', { preferred_username: 'ivo', groups: ['operators'] });
    expect((await ivo.signIn(acme, provider, 'ivo')).status).toBe(500);
    expect(await listTeams('ivo')).toEqual(['developers', 'owners']);
    expect(await runJob()).toBe(1);
    expect([await listTeams('ivo'), await runJob()]).toEqual([['operators'], 0]);
    await configure({ 'mapped-groups': [] });
  });
});
