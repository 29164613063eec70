import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { sql } from '#platform/kernel';
import { ensureUser, makeOwner } from '#identity/people';
import { AdjustableClock } from '../../../../test/support/clocks.js';
import { readWholeLog } from '../../../../test/support/event-log.js';
import { startIdentityProvider, type TestIdentityProvider } from '../../../../test/support/identity-provider.js';
import { addIdentityProvider } from '../../../../test/support/identity-providers.js';
import { OidcVisitor } from '../../../../test/support/oidc-visitor.js';
import { createScimGroup, createScimUser, makeScimClient } from '../../../../test/support/scim.js';
import { expectStatus, makeOrganization, makeTeam, resource } from '../../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import { signInByLink } from '../../../../test/support/sign-in.js';
import { ProvisionedUsers } from './provisioned-users.port.js';

const GROUPS = ['developers', 'operators', 'auditors'];

let server: TestServer;
let provider: TestIdentityProvider;
let other: TestIdentityProvider;
let acme: string;
let rival: string;

beforeAll(async () => {
  const clock = new AdjustableClock();
  [server, provider, other] = await Promise.all([
    startTestServer({ clock }),
    startIdentityProvider(),
    startIdentityProvider(),
  ]);
  acme = await addIdentityProvider(server, provider, { 'creates-users': true });
  rival = await addIdentityProvider(server, other, { name: 'Rival' });
  await makeOrganization(server, 'company');
  for (const group of GROUPS) await makeTeam(server, 'company', group, { 'sso-team-id': group });
});

afterAll(async () => {
  await Promise.all([provider.close(), other.close()]);
  await server.close();
});

afterEach(() => {
  jest.restoreAllMocks();
});

const signIn = async (subject: string, groups?: unknown, id = acme, at = provider): Promise<OidcVisitor> => {
  at.putPerson(subject, { preferred_username: subject, ...(groups === undefined ? {} : { groups }) });
  const visitor = new OidcVisitor(server);
  const response = await visitor.signIn(id, at, subject);
  expect([response.status, response.headers.get('location')]).toEqual([303, '/app']);
  return visitor;
};

/** Expects that the provider's person may not sign in. Returns the page. */
const refuse = async (subject: string, groups: unknown): Promise<string> => {
  provider.putPerson(subject, { preferred_username: subject, ...(groups === undefined ? {} : { groups }) });
  const response = await new OidcVisitor(server).signIn(acme, provider, subject);
  expect(response.status).toBe(403);
  return response.text();
};

const suspend = async (user: string): Promise<void> => {
  expectStatus(await server.post(`/api/v2/admin/users/${user}/actions/suspend`), 200);
};

const listTeams = async (username: string): Promise<readonly string[]> => {
  const rows = await server.database.rows<{ name: string }>(sql`
    select t.name from team_members m join teams t on t.id = m.team join users u on u.id = m.user_id
     where u.username = ${username} order by t.name`);
  return rows.map(({ name }) => name);
};

const configure = async (id: string, attributes: object): Promise<void> => {
  const path = `/api/v2/admin/identity-providers/${id}`;
  expectStatus(await server.patch(path, resource('identity-providers', attributes)), 200);
};

const findUserId = async (username: string): Promise<string> =>
  (await server.database.row<{ id: string }>(sql`select id from users where username = ${username}`))?.id ?? '';

/** Links the account of a person with an account of the same name at the other provider. */
const linkRival = async (subject: string, groups: readonly string[]): Promise<void> => {
  other.putPerson(subject, { groups });
  const visitor = new OidcVisitor(server, await signInByLink(server, await findUserId(subject)));
  const page = await (await visitor.client.get('/account')).text();
  const [, path = ''] = new RegExp(`href="(/account/identity-providers/${rival}/link[^"]+)"`).exec(page) ?? [];
  const { headers } = await visitor.client.get(path);
  const callback = await visitor.authenticate(other, headers.get('location') ?? '', subject);
  expect((await visitor.client.get(callback)).headers.get('location')).toBe('/account?done=identity-linked');
};

describe('the groups of a person', () => {
  it('map to teams at each sign-in, removal included', async () => {
    const visitor = await signIn('ada', ['developers', 'unknown']);
    expect(await listTeams('ada')).toEqual(['developers']);
    const teamEvents = (await readWholeLog(server.store)).filter(({ type }) => type === 'TeamMemberAdded');
    expect(teamEvents.at(-1)?.context).toMatchObject({
      accessor: { name: 'identity provider' },
      request: { address: null },
    });
    await signIn('ada', ['operators']);
    expect(await listTeams('ada')).toEqual(['operators']);
    await signIn('ada', []);
    expect(await listTeams('ada')).toEqual([]);
    // The membership stays, and so does the session of the first sign-in.
    expect((await visitor.client.get('/account')).status).toBe(200);
  });

  it.each([
    ['missing', undefined],
    ['no list of texts', [{ name: 'developers' }]],
  ])('change no team if they are %s', async (_, groups) => {
    await signIn('bob', ['developers']);
    await signIn('bob', groups);
    expect(await listTeams('bob')).toEqual(['developers']);
    await signIn('bob', []);
    expect(await listTeams('bob')).toEqual([]);
  });

  it('are requested from userinfo if the ID token does not have them', async () => {
    provider.forgeIdTokens({ claims: (claims) => ({ ...claims, groups: undefined, preferred_username: undefined }) });
    await signIn('carol', ['developers']);
    provider.forgeIdTokens(null);
    expect(await listTeams('carol')).toEqual(['developers']);
  });

  it('are ignored by a provider that maps none', async () => {
    await configure(acme, { 'maps-groups': false });
    await signIn('dora', ['developers']);
    expect(await listTeams('dora')).toEqual([]);
    await configure(acme, { 'maps-groups': true });
  });

  it('come from the claim that the settings name', async () => {
    await configure(acme, { 'groups-claim': 'preferred_username' });
    provider.putPerson('emil', { preferred_username: 'auditors' });
    await new OidcVisitor(server).signIn(acme, provider, 'emil');
    expect(await listTeams('auditors')).toEqual(['auditors']);
    await configure(acme, { 'groups-claim': 'groups' });
  });
});

describe('a person who may not sign in any more', () => {
  it('loses the sessions and the teams that the provider gave', async () => {
    const allowed = await signIn('nora', ['developers', 'operators']);
    await configure(acme, { 'allowed-groups': ['operators'] });
    expect(await refuse('nora', ['developers'])).toContain('You are in none of the groups');
    expect([await listTeams('nora'), (await allowed.client.get('/account')).status]).toEqual([[], 303]);
    await configure(acme, { 'allowed-groups': [] });
  });

  it('keeps the teams if the provider states no groups', async () => {
    const allowed = await signIn('olga', ['developers']);
    await configure(acme, { 'allowed-groups': ['developers'] });
    await refuse('olga', undefined);
    expect([await listTeams('olga'), (await allowed.client.get('/account')).status]).toEqual([['developers'], 303]);
    await configure(acme, { 'allowed-groups': [] });
  });
});

describe('a provider that maps some groups', () => {
  it('adds people only to teams of these groups', async () => {
    await configure(acme, { 'mapped-groups': ['dev*', 'auditors'] });
    await signIn('karl', GROUPS);
    expect(await listTeams('karl')).toEqual(['auditors', 'developers']);
    await configure(acme, { 'mapped-groups': ['auditors'] });
    await signIn('karl', GROUPS);
    expect(await listTeams('karl')).toEqual(['auditors']);
    await configure(acme, { 'mapped-groups': [] });
  });

  it('adds people to an owners team only if it lists the group by its full name', async () => {
    const { ownersTeam } = await makeOrganization(server, 'owned');
    expectStatus(
      await server.patch(`/api/v2/teams/${ownersTeam}`, resource('teams', { 'sso-team-id': 'chiefs' })),
      200,
    );
    for (const mapped of [[], ['chief*'], ['auditors']]) {
      await configure(acme, { 'mapped-groups': mapped });
      await signIn('lena', ['chiefs']);
      expect(await listTeams('lena')).toEqual([]);
    }
    await configure(acme, { 'mapped-groups': ['chiefs'] });
    await signIn('lena', ['chiefs']);
    expect(await listTeams('lena')).toEqual(['owners']);
    await signIn('lena', []);
    expect(await listTeams('lena')).toEqual([]);
    await configure(acme, { 'mapped-groups': [] });
  });

  it('lets owners of other groups stay owners, and removes those that it has added itself', async () => {
    const { ownersTeam } = await makeOrganization(server, 'kept');
    expectStatus(
      await server.patch(`/api/v2/teams/${ownersTeam}`, resource('teams', { 'sso-team-id': 'bosses' })),
      200,
    );
    await configure(acme, { 'mapped-groups': ['bosses'] });
    await signIn('mona', ['bosses']);
    await configure(acme, { 'mapped-groups': [] });
    await signIn('mona', ['bosses']);
    expect(await listTeams('mona')).toEqual([]);
    const mona = { id: await findUserId('mona'), username: 'mona' };
    await makeOwner(server.store, server.runtime.ids, mona, 'kept');
    await signIn('mona', ['developers']);
    expect(await listTeams('mona')).toEqual(['developers', 'owners']);
  });
});

describe('the groups of a person at several providers', () => {
  it('count together, as each provider has stated them last', async () => {
    await signIn('frida', ['developers']);
    await linkRival('frida', ['operators']);
    await signIn('frida', ['operators'], rival, other);
    expect(await listTeams('frida')).toEqual(['developers', 'operators']);
    await signIn('frida', []);
    expect(await listTeams('frida')).toEqual(['operators']);
    await signIn('frida', ['auditors'], rival, other);
    expect(await listTeams('frida')).toEqual(['auditors']);
  });

  it('do not count after the provider is not enabled, maps none, or is unlinked', async () => {
    await signIn('gina', ['developers']);
    await linkRival('gina', ['operators']);
    const changes = [{ enabled: false }, { 'maps-groups': false }] as const;
    for (const change of changes) {
      await signIn('gina', ['operators'], rival, other);
      expect(await listTeams('gina')).toEqual(['developers', 'operators']);
      await configure(rival, change);
      await signIn('gina', ['developers']);
      expect(await listTeams('gina')).toEqual(['developers']);
      await configure(rival, { enabled: true, 'maps-groups': true });
    }
    await signIn('gina', ['operators'], rival, other);
    const visitor = new OidcVisitor(server, await signInByLink(server, await findUserId('gina')));
    const page = await (await visitor.client.get('/account')).text();
    const [, path = ''] = /Rival[\s\S]*?action="(\/account\/identities\/[^"]+)"/.exec(page) ?? [];
    expect((await visitor.client.post(path)).headers.get('location')).toBe('/account?done=identity-unlinked');
    await signIn('gina', ['developers']);
    expect(await listTeams('gina')).toEqual(['developers']);
  });
});

describe('two identity providers with SCIM and the same external ids', () => {
  const claim = { 'creates-users': false, 'external-id-claim': 'sub' };

  /** Signs in with a provider that finds the person by the external id. Resolves to the status of the response. */
  const signInAs = async (id: string, at: TestIdentityProvider): Promise<number> => {
    at.putPerson('same-id', { groups: [] });
    return (await new OidcVisitor(server).signIn(id, at, 'same-id')).status;
  };

  const listLinked = async (user: string): Promise<unknown[]> =>
    (await readWholeLog(server.store)).flatMap(({ type, data }) => {
      const { user: linked, provider: by } = data as { user: string; provider: string };
      return type === 'IdentityLinked' && linked === user ? [by] : [];
    });

  it('each manage and sign in their own people', async () => {
    await Promise.all([configure(acme, claim), configure(rival, claim)]);
    const [ofAcme, ofRival] = [await makeScimClient(server, acme), await makeScimClient(server, rival)];
    const { id: hers } = await createScimUser(ofAcme, 'tina@acme.test', { externalId: 'same-id' });
    const { id: his } = await createScimUser(ofRival, 'theo@rival.test', { externalId: 'same-id' });
    expect([await signInAs(rival, other), await signInAs(acme, provider)]).toEqual([303, 303]);
    expect([await listLinked(hers), await listLinked(his)]).toEqual([[acme], [rival]]);

    const group = await createScimGroup(ofAcme, 'auditors', [hers]);
    for (const [path, body] of [
      [`Users/${hers}`, { userName: 'taken@rival.test' }],
      [`Groups/${group.id}`, { displayName: 'taken' }],
    ] as const) {
      expectStatus(await ofRival.get(`/scim/v2/${path}`), 404);
      expectStatus(await ofRival.put(`/scim/v2/${path}`, body), 404);
      expectStatus(await ofRival.delete(`/scim/v2/${path}`), 404);
      const { body: list } = expectStatus(await ofRival.get(`/scim/v2/${path.split('/')[0]}`), 200);
      expect(list.Resources.map((one: { id: string }) => one.id)).toEqual(path.startsWith('Users') ? [his] : []);
    }
    const members = { displayName: 'auditors', members: [{ value: hers }] };
    expect(expectStatus(await ofRival.post('/scim/v2/Groups', members), 400).body.scimType).toBe('invalidValue');
    // Each provider may have a group of the same name. The team has the members of both.
    const { id: same } = await createScimGroup(ofRival, 'auditors', [his]);
    expect([await listTeams('tina'), await listTeams('theo')]).toEqual([['auditors'], ['auditors']]);
    expectStatus(await ofRival.delete(`/scim/v2/Groups/${same}`), 204);
    expect([await listTeams('tina'), await listTeams('theo')]).toEqual([['auditors'], []]);
  });

  it('cannot bring back a deleted user of the other one', async () => {
    const [ofAcme, ofRival] = [await makeScimClient(server, acme), await makeScimClient(server, rival)];
    const { id } = await createScimUser(ofAcme, 'uma@people.test');
    expectStatus(await ofAcme.delete(`/scim/v2/Users/${id}`), 204);
    const refused = expectStatus(await ofRival.post('/scim/v2/Users', { userName: 'uma@people.test' }), 409);
    expect(refused.body).toMatchObject({ scimType: 'uniqueness', detail: 'userName: another user has it already' });
    expect((await createScimUser(ofAcme, 'uma@people.test')).id).toBe(id);
  });

  it('do not sign in the users of tokens without a provider', async () => {
    const scim = await makeScimClient(server);
    const { id } = await createScimUser(scim, 'vera@people.test', { externalId: 's-vera' });
    other.putPerson('s-vera', { groups: [] });
    expect((await new OidcVisitor(server).signIn(rival, other, 's-vera')).status).toBe(403);
    await configure(rival, { 'creates-users': false, 'external-id-claim': null });
    await signIn('s-vera', []);
    expect(await listLinked(id)).toEqual([acme]);
    await configure(acme, { 'creates-users': true, 'external-id-claim': null });
  });

  it('lose their tokens for SCIM when they are deleted', async () => {
    const id = await addIdentityProvider(server, other, { name: 'Short', 'client-id': 'short' });
    const scim = await makeScimClient(server, id);
    expectStatus(await scim.get('/scim/v2/Users'), 200);
    const path = `/api/v2/admin/identity-providers/${id}`;
    expect(expectStatus(await server.get(`${path}/scim-tokens`), 200).body.data).toHaveLength(1);
    expectStatus(await server.delete(path), 204);
    expectStatus(await scim.get('/scim/v2/Users'), 401);
    const body = resource('authentication-tokens', { description: 'late' });
    expectStatus(await server.post(`${path}/scim-tokens`, body), 404);
  });
});

describe('a user that SCIM has provisioned', () => {
  it('is linked at the first sign-in if the claim of the settings equals the external id, and keeps the groups of SCIM', async () => {
    const { id } = await ensureUser(server.store, server.runtime.ids, 'hanna', false);
    const provisioned = server.resolve(ProvisionedUsers);
    const find = jest
      .spyOn(provisioned, 'findUserByExternalId')
      .mockImplementation((externalId) => Promise.resolve(externalId === 's-hanna' ? id : null));
    jest.spyOn(provisioned, 'listGroups').mockResolvedValue(['auditors']);
    await configure(acme, { 'creates-users': false, 'external-id-claim': 'sub' });
    await signIn('s-hanna', ['developers']);
    expect(await listTeams('hanna')).toEqual(['auditors', 'developers']);
    find.mockResolvedValue(null);
    await signIn('s-hanna', ['developers']);
    expect(
      (await readWholeLog(server.store)).filter(({ type, data }) => {
        return type === 'IdentityLinked' && (data as { user: string }).user === id;
      }),
    ).toHaveLength(1);
    await configure(acme, { 'creates-users': true, 'external-id-claim': null });
  });

  it('leaves a team when neither SCIM nor the provider states the group any more', async () => {
    const { ownersTeam } = await makeOrganization(server, 'shared');
    expectStatus(await server.patch(`/api/v2/teams/${ownersTeam}`, resource('teams', { 'sso-team-id': 'heads' })), 200);
    const scim = await makeScimClient(server);
    const { id } = await createScimUser(scim, 'rita@people.test', { externalId: 's-rita' });
    await configure(acme, { 'external-id-claim': 'sub', 'mapped-groups': ['heads', 'operators'] });
    await signIn('s-rita', ['heads', 'operators']);
    const groups = ['heads', 'operators', 'auditors'];
    const stated = await Promise.all(groups.map(async (group) => (await createScimGroup(scim, group, [id])).id));
    expect(await listTeams('rita')).toEqual(['auditors', 'operators', 'owners']);
    const removal = { Operations: [{ op: 'remove', path: 'members' }] };
    for (const group of stated) expectStatus(await scim.patch(`/scim/v2/Groups/${group}`, removal), 200);
    expect(await listTeams('rita')).toEqual(['operators', 'owners']);
    await signIn('s-rita', []);
    expect(await listTeams('rita')).toEqual([]);
    await configure(acme, { 'external-id-claim': null, 'mapped-groups': [] });
  });

  it('leaves a team of a group of SCIM if the provider that has stated it is disabled', async () => {
    const scim = await makeScimClient(server);
    const { id } = await createScimUser(scim, 'sven@people.test', { externalId: 's-sven' });
    await configure(acme, { 'external-id-claim': 'sub' });
    await signIn('s-sven', ['developers']);
    const group = await createScimGroup(scim, 'developers', [id]);
    await configure(acme, { enabled: false });
    expectStatus(await scim.delete(`/scim/v2/Groups/${group.id}`), 204);
    expect(await listTeams('sven')).toEqual([]);
    await configure(acme, { enabled: true, 'external-id-claim': null });
  });

  describe('while the provider finds the user', () => {
    let find: jest.SpiedFunction<ProvisionedUsers['findUserByExternalId']>;
    let user: string;
    let number = 0;

    beforeEach(async () => {
      number += 1;
      user = (await ensureUser(server.store, server.runtime.ids, `scim-${number}`, false)).id;
      find = jest.spyOn(server.resolve(ProvisionedUsers), 'findUserByExternalId').mockResolvedValue(user);
      await configure(acme, { 'creates-users': false, 'external-id-claim': 'sub' });
    });

    afterEach(() => configure(acme, { 'creates-users': true, 'external-id-claim': null }));

    const countLinks = async (): Promise<number> =>
      (await readWholeLog(server.store)).filter(
        ({ type, data }) => type === 'IdentityLinked' && (data as { user: string }).user === user,
      ).length;

    it('is linked once by two sign-ins at the same time', async () => {
      let waiting: (() => void)[] = [];
      find.mockImplementation(async () => {
        // Both sign-ins read before one of them writes.
        await new Promise<void>((resolve) => {
          waiting.push(resolve);
          if (waiting.length < 2) return;
          for (const release of waiting) release();
          waiting = [];
        });
        return user;
      });
      await Promise.all([signIn('s-twice', ['developers']), signIn('s-twice', ['developers'])]);
      expect([await countLinks(), await listTeams(`scim-${number}`)]).toEqual([1, ['developers']]);
    });

    it('is not linked if an administrator suspends the user in between', async () => {
      find.mockResolvedValueOnce(user).mockImplementation(async () => {
        await suspend(user);
        return user;
      });
      expect(await refuse('s-late', ['developers'])).toContain('Your account is suspended');
      expect([await countLinks(), await listTeams(`scim-${number}`)]).toEqual([0, []]);
    });

    it('joins no team if an administrator suspends the user in between', async () => {
      jest.spyOn(server.resolve(ProvisionedUsers), 'listGroups').mockImplementation(async () => {
        await suspend(user);
        return ['auditors'];
      });
      expect(await refuse('s-later', ['developers'])).toContain('Your account is suspended');
      expect(await listTeams(`scim-${number}`)).toEqual([]);
    });
  });

  it('is not looked for without such a claim', async () => {
    const find = jest.spyOn(server.resolve(ProvisionedUsers), 'findUserByExternalId');
    await signIn('ivan', []);
    expect(find).not.toHaveBeenCalled();
  });
});
