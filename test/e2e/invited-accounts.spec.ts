import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { createInvitedAccountsJob, peopleDefinition } from '#identity/people';
import { createSignInLink } from '#identity/sign-in';
import { readWholeLog } from '../support/event-log.js';
import { startIdentityProvider, type TestIdentityProvider } from '../support/identity-provider.js';
import { addIdentityProvider } from '../support/identity-providers.js';
import { OidcVisitor } from '../support/oidc-visitor.js';
import { runJobOnce } from '../support/scheduled-jobs.js';
import { createScimUser, makeScimClient } from '../support/scim.js';
import {
  expectStatus,
  makeMember,
  makeOrganization,
  makeToken,
  resource,
  type SeededMember,
} from '../support/seeds.js';
import { startTestServer, type ApiResponse, type ApiTestClient, type TestServer } from '../support/server.js';
import { expectViewsMatchLog } from '../support/views-match-log.js';

let server: TestServer;
let provider: TestIdentityProvider;
let acme: string;
let scim: ApiTestClient;
/** Owns an organization and has no permission on the site. */
let mallory: SeededMember;

const memberships = (organization: string) => `/api/v2/organizations/${organization}/organization-memberships`;
const invitation = (email: string) => resource('organization-memberships', { email });
const organizationBody = (name: string) => resource('organizations', { name, email: 'ops@acme.test' });

beforeAll(async () => {
  [server, provider] = await Promise.all([startTestServer(), startIdentityProvider()]);
  acme = await addIdentityProvider(server, provider, { 'creates-users': true, 'allowed-domains': ['corp.example'] });
  scim = await makeScimClient(server);
  await makeOrganization(server, 'first');
  mallory = await makeMember(server, 'first', 'mallory');
  expectStatus(await mallory.post('/api/v2/organizations', organizationBody('of-mallory')), 201);
});

afterAll(async () => {
  await provider.close();
  await server.close();
});

let name: string;
let email: string;
let number = 0;
beforeEach(() => {
  number += 1;
  name = `person-${number}`;
  email = `${name}@corp.example`;
  provider.putPerson(name, { preferred_username: `${name}-at-work`, email: email.toUpperCase(), email_verified: true });
});

const invite = async (api: ApiTestClient = mallory, organization = 'of-mallory'): Promise<string> =>
  expectStatus(await api.post(memberships(organization), invitation(email)), 201).body.data.id as string;

const findAccount = () =>
  server.database.row<{ id: string; username: string; onlyInvited: boolean }>(
    sql`select id, username, only_invited as "onlyInvited" from users where lower(email) = ${email}`,
  );
const signIn = () => new OidcVisitor(server).signIn(acme, provider, name);
const endAccounts = () => runJobOnce(createInvitedAccountsJob(server.runtime));

describe('an account that only an invitation has created', () => {
  it('is taken over by the person that an identity provider proves, with the invitation', async () => {
    const membership = await invite();
    const before = await findAccount();
    expect(before).toMatchObject({ username: name, onlyInvited: true });
    const visitor = new OidcVisitor(server);
    expect((await visitor.signIn(acme, provider, name)).status).toBe(303);
    expect(await findAccount()).toEqual({ id: before?.id, username: `${name}-at-work`, onlyInvited: false });
    const document = expectStatus(await mallory.get(`/api/v2/organization-memberships/${membership}`), 200).body.data;
    expect(document.attributes).toMatchObject({ status: 'invited', email });
    expect(document.relationships.user.data.id).toBe(membership.replace('ou-', 'user-'));
    expect((await new OidcVisitor(server).signIn(acme, provider, name)).status).toBe(303);
    expect(await endAccounts()).toBe(0);
  });

  it('is taken over by SCIM, also as a suspended user', async () => {
    for (const active of [true, false]) {
      email = `scim-${String(active)}-${email}`;
      await invite();
      const before = await findAccount();
      const user = await createScimUser(scim, email, { active, emails: [{ value: email, primary: true }] });
      expect(user).toMatchObject({ id: before?.id, active });
    }
  });

  it('ends if a user of SCIM gets its address', async () => {
    const user = await createScimUser(scim, `${name}-of-scim`);
    await invite();
    const invited = await findAccount();
    const changed = { userName: user['userName'], emails: [{ value: email, primary: true }] };
    expectStatus(await scim.put(`/scim/v2/Users/${user.id}`, changed), 200);
    expect((await findAccount())?.id).toBe(user.id);
    expectStatus(await server.get(`/api/v2/users/${invited?.id}`), 404);
    const { body } = expectStatus(await mallory.get(`${memberships('of-mallory')}?q=${name}`), 200);
    expect(body.data).toEqual([]);
  });

  it.each<[string, (account: string, membership: string) => Promise<unknown>]>([
    ['it has a token', (account) => makeToken(server, `/api/v2/users/${account}/authentication-tokens`)],
    [
      'an operator has created a sign-in link for it',
      (account) => createSignInLink(server.runtime, { user: account, resetsMethods: false, publicUrl: server.url }),
    ],
    [
      'an invitation was accepted',
      (_, membership) => server.post(`/api/v2/organization-memberships/${membership}/actions/accept`),
    ],
    ['an administrator has suspended it', (account) => server.post(`/api/v2/admin/users/${account}/actions/suspend`)],
  ])('is not taken over if %s', async (_, use) => {
    const membership = await invite();
    const account = await findAccount();
    await use(account?.id ?? '', membership);
    const before = (await readWholeLog(server.store)).length;
    const response = await signIn();
    expect([response.status, await response.text()]).toEqual([
      403,
      expect.stringContaining('An account here has your e-mail address'),
    ]);
    expectStatus(
      await scim.post('/scim/v2/Users', { userName: email, emails: [{ value: email, primary: true }] }),
      409,
    );
    // The trail of the site records the refusal.
    const takeoverEvents = new Set(['UserConfirmed', 'UserUpdated', 'IdentityLinked', 'ScimUserProvisioned']);
    const events = (await readWholeLog(server.store)).slice(before).map(({ type }) => type);
    expect(events.filter((type) => takeoverEvents.has(type))).toEqual([]);
    expect(await endAccounts()).toBe(0);
  });

  it('is not taken over by an address that the provider has not verified', async () => {
    await invite();
    provider.putPerson(name, { preferred_username: name, email, email_verified: false });
    expect((await signIn()).status).toBe(403);
    expect(await findAccount()).toMatchObject({ onlyInvited: true });
  });

  it('has one owner if sign-in, invitation and provisioning happen at the same time', async () => {
    for (let round = 0; round < 5; round += 1) {
      name = `racer-${round}`;
      email = `${name}@corp.example`;
      provider.putPerson(name, { preferred_username: name, email, email_verified: true });
      const visitor = new OidcVisitor(server);
      const path = await visitor.authenticate(provider, await visitor.start(acme), name);
      const revoked = await invite();
      const [signedIn, , , invited] = await Promise.all([
        visitor.client.get(path),
        mallory.delete(`/api/v2/organization-memberships/${revoked}`),
        endAccounts(),
        server.post(memberships('first'), invitation(email)),
      ]);
      expect([signedIn.status, invited.status]).toEqual([303, 201]);
      const owners = await server.database.rows<{ id: string }>(sql`
        select u.id from users u join user_identities i on i.user_id = u.id
          join organization_memberships m on m.user_id = u.id where lower(u.email) = ${email}`);
      expect(owners).toHaveLength(1);
    }
  });

  it('ends when its last invitation or the organization is deleted', async () => {
    const membership = await invite();
    expectStatus(await server.post('/api/v2/organizations', organizationBody('short-lived')), 201);
    await invite(server, 'short-lived');
    const account = await findAccount();
    expectStatus(await mallory.delete(`/api/v2/organization-memberships/${membership}`), 204);
    expect(await endAccounts()).toBe(0);
    expectStatus(await server.delete('/api/v2/organizations/short-lived'), 204);
    expect(await endAccounts()).toBe(1);
    expect(await findAccount()).toBeUndefined();
    expectStatus(await server.get(`/api/v2/users/${account?.id}`), 404);
  });

  it('leaves views that match the log', () => expectViewsMatchLog(server, [peopleDefinition]));
});

describe('limits', () => {
  let limited: TestServer;
  let owner: SeededMember;

  beforeAll(async () => {
    limited = await startTestServer({
      env: {
        CADASTRE_MAX_INVITATIONS_PER_ORGANIZATION: '3',
        CADASTRE_MAX_INVITATIONS_PER_CALLER: '2',
        CADASTRE_MAX_USERS: '3',
        CADASTRE_ORGANIZATION_CREATORS: 'administrators',
      },
    });
    const { ownersTeam } = await makeOrganization(limited, 'acme');
    await makeOrganization(limited, 'other');
    owner = await makeMember(limited, 'acme', 'owner', [ownersTeam]);
  });

  afterAll(() => limited.close());

  const send = (api: ApiTestClient, address: string, organization = 'acme') =>
    api.post(memberships(organization), invitation(address));

  it('refuse invitations of the caller and to the organization until one is deleted', async () => {
    const first = expectStatus(await send(owner, 'a@people.test'), 201).body.data.id as string;
    expectStatus(await send(owner, 'b@people.test'), 201);
    const events = (await readWholeLog(limited.store)).length;
    const detailOf = (answer: ApiResponse) => expectStatus(answer, 422).body.errors[0].detail as string;
    expect(detailOf(await send(owner, 'c@people.test'))).toContain(
      'A caller can have at most 2 invitations that nobody has accepted (CADASTRE_MAX_INVITATIONS_PER_CALLER)',
    );
    expect((await readWholeLog(limited.store)).length).toBe(events);
    expectStatus(await send(limited, 'd@people.test'), 201);
    expect(detailOf(await send(limited, 'e@people.test'))).toContain(
      'An organization can have at most 3 invitations that nobody has accepted (CADASTRE_MAX_INVITATIONS_PER_ORGANIZATION)',
    );
    expectStatus(await owner.delete(`/api/v2/organization-memberships/${first}`), 204);
    expectStatus(await send(owner, 'c@people.test'), 201);
  });

  it('of users do not include accounts that are only invited', async () => {
    // The administrator and the owner are users; three more are invited.
    const provisioning = await makeScimClient(limited);
    await createScimUser(provisioning, 'third@people.test');
    expectStatus(await provisioning.post('/scim/v2/Users', { userName: 'fourth@people.test' }), 400);
    expectStatus(await send(limited, 'f@people.test', 'other'), 201);
  });

  it('of creators allow only administrators of the site to create organizations', async () => {
    const { body } = expectStatus(await owner.post('/api/v2/organizations', organizationBody('more')), 403);
    expect(body.errors[0].detail).toBe(
      'Only administrators of the site may create organizations (CADASTRE_ORGANIZATION_CREATORS)',
    );
    const canCreate = async (api: ApiTestClient) =>
      expectStatus(await api.get('/api/v2/account/details'), 200).body.data.attributes.permissions[
        'can-create-organizations'
      ] as boolean;
    expect([await canCreate(owner), await canCreate(limited)]).toEqual([false, true]);
    expectStatus(await limited.post('/api/v2/organizations', organizationBody('more')), 201);
  });
});
