import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SESSION_COOKIE } from '#api/access';
import { ensureUser } from '#identity/people';
import { sql } from '#platform/kernel';
import { AdjustableClock } from '../../../../test/support/clocks.js';
import { addSamlProvider, type TestSamlProvider } from '../../../../test/support/saml-provider.js';
import { expectStatus, makeOrganization, makeTeam, resource } from '../../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import { signInByLink } from '../../../../test/support/sign-in.js';

const clock = new AdjustableClock();
let server: TestServer;
let acme: TestSamlProvider;

beforeAll(async () => {
  server = await startTestServer({ clock });
  acme = await addSamlProvider(server, () => clock.now());
  await makeOrganization(server, 'company');
  await makeTeam(server, 'company', 'developers', { 'sso-team-id': 'developers' });
});

afterAll(() => server.close());

const configure = async (attributes: object): Promise<void> => {
  const path = `/api/v2/admin/identity-providers/${acme.id}`;
  expectStatus(await server.patch(path, resource('identity-providers', attributes)), 200);
};

const findUser = (username: string) =>
  server.database.row<{ id: string; email: string | null }>(
    sql`select id, email from users where username = ${username}`,
  );

const listTeams = async (username: string): Promise<readonly string[]> =>
  (
    await server.database.rows<{ name: string }>(sql`
      select t.name from team_members m join teams t on t.id = m.team join users u on u.id = m.user_id
       where u.username = ${username}`)
  ).map(({ name }) => name);

describe('the request to the provider', () => {
  it('names this server and its callback, and asks for a new authentication only to confirm', async () => {
    const { xml, relayState } = await acme.start(acme.open());
    expect(xml).toContain(`AssertionConsumerServiceURL="${acme.callback}"`);
    expect(xml).toContain(`<saml:Issuer>${acme.provider.audience}</saml:Issuer>`);
    expect(xml).toContain('Destination="https://saml.example.test/sso?tenant=acme"');
    expect(xml).not.toContain('ForceAuthn');
    expect(relayState).toMatch(/^[\w-]{43}$/);
    const confirming = await acme.start(acme.open(), `/sign-in/saml/${acme.id}?confirm=1`);
    expect(confirming.xml).toContain('ForceAuthn="true"');
  });

  it('is not sent for a provider of OpenID Connect, or one that is disabled', async () => {
    await configure({ enabled: false });
    expect((await acme.open().get(`/sign-in/saml/${acme.id}`)).status).toBe(404);
    await configure({ enabled: true });
    expect((await acme.open().get(`/sign-in/oidc/${acme.id}`)).status).toBe(404);
  });
});

describe('a person', () => {
  it('gets an account and teams at the first sign-in, and leaves the teams at the next one', async () => {
    const attributes = { Username: ['grace'], MemberOf: ['developers', 'others'], email: ['grace@corp.example'] };
    const client = acme.open();
    const response = await acme.signIn(client, { subject: 's-grace', attributes });
    expect([response.status, response.headers.get('location')]).toEqual([303, '/app']);
    expect(client.getCookie(SESSION_COOKIE)).toBeDefined();
    expect(await listTeams('grace')).toEqual(['developers']);
    // The provider does not prove addresses.
    expect((await findUser('grace'))?.email).toBeNull();

    await acme.signIn(acme.open(), { subject: 's-grace', attributes: { MemberOf: ['others'] } });
    expect(await listTeams('grace')).toEqual([]);

    // A provider leaves out the attribute of a person without groups.
    await acme.signIn(acme.open(), { subject: 's-grace', attributes: { MemberOf: ['developers'] } });
    expect(await listTeams('grace')).toEqual(['developers']);
    await acme.signIn(acme.open(), { subject: 's-grace' });
    expect(await listTeams('grace')).toEqual([]);
    await acme.signIn(acme.open(), { subject: 's-grace', attributes: { MemberOf: ['developers'] } });
    await configure({ 'allowed-groups': ['developers'] });
    expect((await acme.signIn(acme.open(), { subject: 's-grace' })).status).toBe(403);
    expect(await listTeams('grace')).toEqual([]);
    await configure({ 'allowed-groups': [] });
  });

  it('gets an address only from a provider that proves addresses, in an allowed domain', async () => {
    await configure({ 'proves-emails': true, 'allowed-domains': ['corp.example'] });
    const format = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress';
    await acme.signIn(acme.open(), {
      subject: 'heidi@corp.example',
      subjectFormat: format,
      attributes: { Username: ['heidi'] },
    });
    expect((await findUser('heidi'))?.email).toBe('heidi@corp.example');
    const refused = await acme.signIn(acme.open(), { subject: 'x', attributes: { mail: ['x@elsewhere.example'] } });
    expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining('not in a domain')]);
    await configure({ 'proves-emails': false });
    const unproved = await acme.signIn(acme.open(), { subject: 'y', attributes: { mail: ['y@corp.example'] } });
    expect(unproved.status).toBe(403);
    await configure({ 'allowed-domains': [] });
  });

  it('never gets the account of somebody else with the same name or address', async () => {
    const { id } = await ensureUser(server.store, server.runtime.ids, 'ivan', false);
    await acme.signIn(acme.open(), {
      subject: 'ivan',
      attributes: { Username: ['ivan'], email: ['ivan@corp.example'] },
    });
    const rows = await server.database.rows<{ user: string }>(sql`
      select user_id as "user" from user_identities where subject like '% ivan'`);
    expect(rows).toHaveLength(1);
    expect(rows[0]?.user).not.toBe(id);
  });

  it('is another person with the same name in another format', async () => {
    const attributes = { Username: ['kim'] };
    await acme.signIn(acme.open(), { subject: 'kim@corp.example', attributes });
    const subjectFormat = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress';
    await acme.signIn(acme.open(), { subject: 'kim@corp.example', subjectFormat, attributes });
    const rows = await server.database.rows<{ user: string }>(sql`
      select distinct user_id as "user" from user_identities where subject like '%kim@corp.example'`);
    expect(rows).toHaveLength(2);
  });

  it('links an account that exists, and then signs in to it', async () => {
    const { id } = await ensureUser(server.store, server.runtime.ids, 'judy', false);
    const client = await signInByLink(server, id);
    const page = await (await client.get('/account')).text();
    const [, path = ''] = new RegExp(`href="(/account/identity-providers/${acme.id}/link[^"]+)"`).exec(page) ?? [];
    const linked = await acme.signIn(client, { subject: 's-judy' }, path);
    expect(linked.headers.get('location')).toBe('/account?done=identity-linked');
    const again = acme.open();
    expect((await acme.signIn(again, { subject: 's-judy' })).status).toBe(303);
    expect(await (await again.get('/account')).text()).toContain('judy');
  });

  it('cannot confirm with an old authentication', async () => {
    const path = `/sign-in/saml/${acme.id}?confirm=1`;
    const authenticatedAt = new Date(clock.now().getTime() - 10 * 60_000);
    expect((await acme.signIn(acme.open(), { subject: 's-judy', authenticatedAt }, path)).status).toBe(400);
    expect((await acme.signIn(acme.open(), { subject: 's-judy' }, path)).status).toBe(303);
  });
});

describe('the session of a person', () => {
  it('ends when the provider says, and no later', async () => {
    const sessionEnd = new Date(clock.now().getTime() + 3_600_000);
    const client = acme.open();
    await acme.signIn(client, { subject: 's-grace', sessionEnd });
    const rows = await server.database.rows<{ expiredAt: string }>(sql`
      select s.expired_at as "expiredAt" from sessions s join users u on u.id = s.user_id
       where u.username = 'grace' order by s.expired_at limit 1`);
    expect(rows[0]?.expiredAt).toBe(new Date(sessionEnd.getTime() + 60_000).toISOString());
  });
});

describe('the sign-out at the provider', () => {
  it('names the person and the session there, once', async () => {
    await configure({ 'sign-out-url': 'https://saml.example.test/slo' });
    const client = acme.open();
    const [subject, sessionIndex] = ['s-grace', 'index-7'];
    const subjectFormat = `urn:oasis:names:tc:SAML:2.0:nameid-format:persistent" NameQualifier="${acme.provider.issuer}`;
    const signedIn = await acme.signIn(client, { subject, sessionIndex, subjectFormat });
    // Another site cannot end the session there with a link.
    expect(signedIn.headers.getSetCookie()).toContainEqual(
      expect.stringMatching(/^__Host-cadastre-saml-session=.*SameSite=Strict/),
    );
    const foreign = await acme.open().get(`/sign-in/saml/${acme.id}/sign-out`);
    expect([foreign.status, foreign.headers.getSetCookie()]).toEqual([404, []]);
    const left = await client.post('/sign-out');
    expect(left.headers.get('location')).toBe(`/sign-in?left=${acme.id}`);
    const { xml } = await acme.start(client, `/sign-in/saml/${acme.id}/sign-out`);
    expect(xml).toContain('<samlp:LogoutRequest');
    expect(xml).toContain(`<saml:NameID NameQualifier="${acme.provider.issuer}" Format=`);
    expect(xml).toContain(' NotOnOrAfter="');
    expect(xml).toContain('nameid-format:persistent">s-grace</saml:NameID><samlp:SessionIndex>index-7<');
    expect((await client.get(`/sign-in/saml/${acme.id}/sign-out`)).status).toBe(404);
    expect((await client.get(`/sign-in/saml/${acme.id}/logout?SAMLResponse=x`)).headers.get('location')).toBe(
      '/sign-in',
    );
    await configure({ 'sign-out-url': null });
    await acme.signIn(client, { subject: 's-grace' });
    expect((await client.get(`/sign-in/saml/${acme.id}/sign-out`)).status).toBe(404);
  });
});

describe('the metadata of this server', () => {
  it('contain its entity ID, its callback and its certificate, also while the provider is disabled', async () => {
    await configure({ enabled: false });
    const response = await acme.open().get(`/sign-in/saml/${acme.id}/metadata`);
    await configure({ enabled: true });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/samlmetadata+xml']);
    const xml = await response.text();
    expect(xml).toContain(`entityID="${acme.provider.audience}"`);
    expect(xml).toContain(`Location="${acme.callback}"`);
    expect(xml).toContain('WantAssertionsSigned="true"');
    expect((await acme.open().get('/sign-in/saml/idp-unknown/metadata')).status).toBe(404);
  });
});
