import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SESSION_COOKIE } from '#api/access';
import { sql } from '#platform/kernel';
import { Vault } from '#storage/vault';
import { GitHostError, GitHosts, type HostAuthorization } from '#vcs/git-hosts';
import { AdjustableClock } from '../../../test/support/clocks.js';
import { waitForFollowers } from '../../../test/support/event-log.js';
import { createConnectionTokens, REACHES_GIT_HOSTS } from '../../../test/support/git-host.js';
import { INSTALL_GITEA_TIMEOUT_MS, startGitea, type Gitea } from '../../../test/support/gitea.js';
import { listProblems } from '../../../test/support/responses.js';
import {
  expectStatus,
  makeMember,
  makeOrganization,
  makeOrganizationToken,
  makeTeam,
  resource,
} from '../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../test/support/server.js';
import { startTestSession } from '../../../test/support/sessions.js';
import { FormClient } from '../../../test/support/sign-in.js';

const CLIENTS = '/api/v2/organizations/acme/oauth-clients';
const SCREEN = '/app/acme/settings/version-control';

const clock = new AdjustableClock();
let gitea: Gitea;
let server: TestServer;
let vault: Vault;
let owner: string;
let member: string;

beforeAll(async () => {
  [gitea, server] = await Promise.all([
    startGitea(),
    startTestServer({ clock, followers: true, env: REACHES_GIT_HOSTS }),
  ]);
  vault = new Vault(server.database, server.runtime.encryptionKeys);
  await gitea.makeRepository('network', { 'main.tf': 'terraform {}\n' });
  const { ownersTeam } = await makeOrganization(server, 'acme');
  owner = (await makeMember(server, 'acme', 'olga', [ownersTeam])).id;
  const readers = await makeTeam(server, 'acme', 'readers', { 'organization-access': { 'manage-workspaces': true } });
  member = (await makeMember(server, 'acme', 'mia', [readers])).id;
}, INSTALL_GITEA_TIMEOUT_MS);

afterAll(async () => {
  await server.close();
  await gitea.remove();
});

const getLocation = (response: Response): string => response.headers.get('location') ?? '';

const openBrowserOf = async (user: string): Promise<FormClient> => {
  const browser = new FormClient(server.url, server.runtime.settings.publicUrl);
  browser.setCookie(SESSION_COOKIE, (await startTestSession(server, user)).secret);
  return browser;
};

/** Signs in to Gitea, and permits the application. Returns the path of the callback. */
const permit = async (address: string, granted = 'true'): Promise<string> => {
  const browser = new FormClient(gitea.url);
  await browser.post('/user/login', { user_name: gitea.user, password: gitea.password });
  const page = await browser.get(address);
  if (page.status !== 200) return getLocation(page).replace(server.runtime.settings.publicUrl, '');
  const form = [...(await page.text()).matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
  const fields = Object.fromEntries(form.map(([, name = '', value = '']) => [name, value]));
  const answer = await browser.post('/login/oauth/grant', { ...fields, granted });
  return getLocation(answer).replace(server.runtime.settings.publicUrl, '');
};

const CALLBACK = (): string => `/auth/vcs/callback/${new URL(gitea.url).host}`;

const connect = async () => {
  const { publicUrl } = server.runtime.settings;
  const application = await gitea.makeApplication(`${publicUrl}${CALLBACK()}`);
  const body = resource('oauth-clients', {
    'service-provider': 'gitea',
    'http-url': gitea.url,
    'api-url': gitea.apiUrl,
    key: application.key,
    secret: application.secret,
  });
  const { data } = expectStatus(await server.post(CLIENTS, body), 201).body;
  return { application, id: data.id as string, attributes: data.attributes, path: `/auth/vcs/${data.id}` };
};

const show = async (id: string) => expectStatus(await server.get(`/api/v2/oauth-clients/${id}`), 200).body.data;

const findToken = async (id: string): Promise<string> =>
  (await show(id)).relationships['oauth-tokens'].data[0]?.id as string;

/** Lets the owner authorize a connection. */
const authorize = async (path: string): Promise<void> => {
  const browser = await openBrowserOf(owner);
  const done = await browser.get(await permit(getLocation(await browser.get(path))));
  expect([done.status, getLocation(done)]).toEqual([303, SCREEN]);
};

/** Connects, and lets the owner authorize the connection. */
const connectFully = async () => {
  const { id, path, application } = await connect();
  await authorize(path);
  return { id, path, application, token: await findToken(id) };
};

describe('a connection with the key of an OAuth application', () => {
  it('says where it is authorized, and shows its secret to nobody', async () => {
    const { id, attributes, application } = await connect();
    expect(attributes).toMatchObject({
      key: application.key,
      secret: null,
      'connect-path': `/auth/vcs/${id}`,
      'callback-url': `${server.runtime.settings.publicUrl}${CALLBACK()}`,
      'token-refused-at': null,
    });
    expect(await vault.open(`${id}-secret`)).toBe(application.secret);
    expect((await show(id)).relationships['oauth-tokens'].data).toEqual([]);
  });

  it('gets the token of the account that permits it', async () => {
    const { id, token } = await connectFully();
    expect(expectStatus(await server.get(`/api/v2/oauth-tokens/${token}`), 200).body.data.attributes).toMatchObject({
      'service-provider-user': gitea.user,
    });
    const listed = expectStatus(await server.get(`/api/v2/oauth-tokens/${token}/authorized-repos`), 200).body.data;
    expect(listed).toMatchObject([{ id: `${gitea.user}/network` }]);
    expectStatus(await server.delete(`/api/v2/oauth-clients/${id}`), 204);
    const secrets = [token, `${token}-renewal`, `${id}-secret`].map((secret) => vault.open(secret));
    expect(await Promise.all(secrets)).toEqual([undefined, undefined, undefined]);
  });

  it('has each authorization in the audit trail, with the person', async () => {
    const { id, path, token } = await connectFully();
    await authorize(path);
    expectStatus(await server.delete(`/api/v2/oauth-tokens/${token}`), 204);
    await authorize(path);
    const next = await findToken(id);
    await waitForFollowers(server.store, 'audit_trail');
    const reader = server.as(await makeOrganizationToken(server, 'acme'));
    const trail = expectStatus(await reader.get('/api/v2/organization/audit-trail?page[size]=100'), 200).body.data;
    const entries = (trail as any[])
      .filter(({ resource: { id: about, action } }) => [token, next].includes(about) && action !== 'destroy')
      .map(({ resource: { id: about, action }, auth }) => [about, action, auth.accessor_id]);
    expect(entries.toReversed()).toEqual([
      [token, 'create', owner],
      [token, 'update', owner],
      [next, 'create', owner],
    ]);
  });

  it('replaces key and secret together with a new authorization', async () => {
    const { id, path, token } = await connectFully();
    const before = await vault.open(token);
    const { key, secret } = await gitea.makeApplication(`${server.runtime.settings.publicUrl}${CALLBACK()}`);
    const body = resource('oauth-clients', { key, secret });
    const changed = expectStatus(await server.patch(`/api/v2/oauth-clients/${id}`, body), 200).body.data;
    expect([changed.attributes.key, await vault.open(`${id}-secret`)]).toEqual([key, secret]);
    await authorize(path);
    expect(await findToken(id)).toBe(token);
    expect(await vault.open(token)).not.toBe(before);
  });

  it.each([
    ['neither', {}],
    ['a key without a secret', { key: 'a' }],
    ['both', { key: 'a', secret: 'b', 'oauth-token-string': 'c' }],
  ])('is refused with %s', async (_, credentials) => {
    const addresses = { 'http-url': gitea.url, 'api-url': gitea.apiUrl };
    const body = resource('oauth-clients', { 'service-provider': 'gitea', ...addresses, ...credentials });
    expect(listProblems(expectStatus(await server.post(CLIENTS, body), 422))).toEqual([
      ['/data/attributes/oauth-token-string', expect.stringMatching(/key and secret/)],
    ]);
  });
});

describe('an authorization', () => {
  it('ends once, and only in the session in which it started', async () => {
    const { id, path } = await connect();
    const browser = await openBrowserOf(owner);
    const callback = await permit(getLocation(await browser.get(path)));
    const cookie = browser.getCookie('__Host-cadastre-vcs') ?? '';
    const stranger = await openBrowserOf(owner);
    expect((await stranger.get(callback)).status).toBe(400);
    stranger.setCookie('__Host-cadastre-vcs', cookie);
    expect((await stranger.get(callback)).status).toBe(400);
    expect((await browser.get(callback)).status).toBe(303);
    const token = await vault.open(await findToken(id));
    browser.setCookie('__Host-cadastre-vcs', cookie);
    expect((await browser.get(callback)).status).toBe(400);
    expect(await vault.open(await findToken(id))).toBe(token);
  });

  it.each<[string, (callback: string) => string]>([
    ['another state', (callback) => callback.replace(/state=[^&]+/, 'state=other')],
    ['another host', (callback) => callback.replace(/callback\/[^?]+/, 'callback/git.example.com')],
    ['a wrong code', (callback) => callback.replace(/code=[^&]+/, 'code=wrong')],
    ['no code', (callback) => callback.replace(/code=[^&]+/, '')],
  ])('is refused with %s', async (_, change) => {
    const { id, path } = await connect();
    const browser = await openBrowserOf(owner);
    const callback = await permit(getLocation(await browser.get(path)));
    expect((await browser.get(change(callback))).status).toBe(400);
    expect((await show(id)).relationships['oauth-tokens'].data).toEqual([]);
  });

  it('expires after 10 minutes', async () => {
    const { id, path } = await connect();
    const browser = await openBrowserOf(owner);
    const callback = await permit(getLocation(await browser.get(path)));
    clock.pass({ seconds: 10 * 60 });
    expect((await browser.get(callback)).status).toBe(400);
    expect((await show(id)).relationships['oauth-tokens'].data).toEqual([]);
  });

  it('changes nothing if the person denies it', async () => {
    const { id, path } = await connect();
    const browser = await openBrowserOf(owner);
    const callback = await permit(getLocation(await browser.get(path)), 'false');
    const denied = await browser.get(callback);
    expect([denied.status, await denied.text()]).toEqual([400, expect.stringMatching(/was denied on the Git host/)]);
    expect((await show(id)).relationships['oauth-tokens'].data).toEqual([]);
  });

  it('is not started by people who may only read connections, and without a session', async () => {
    const { path } = await connect();
    expect((await (await openBrowserOf(member)).get(path)).status).toBe(404);
    expect(getLocation(await new FormClient(server.url).get(path))).toMatch(/^\/sign-in/);
  });

  it.each([
    ['cross-site', false],
    ['same-site', false],
    ['same-origin', true],
    ['none', true],
  ])('is started by a link of the site itself only: %s', async (site, isStarted) => {
    const { path } = await connect();
    const cookie = `${SESSION_COOKIE}=${(await startTestSession(server, owner)).secret}`;
    const headers = { cookie, 'sec-fetch-site': site };
    const location = getLocation(await fetch(`${server.url}${path}`, { redirect: 'manual', headers }));
    expect([location === SCREEN, location.startsWith(`${gitea.url}/login/oauth/authorize?`)]).toEqual([
      !isStarted,
      isStarted,
    ]);
  });
});

describe('a token that expires', () => {
  /** Counts the renewals that reach the host. */
  const openProcess = (renewals: string[]) => {
    const { authorization } = new GitHosts(['127.0.0.1']);
    const renew: HostAuthorization['renew'] = (application, renewal) => {
      renewals.push(renewal);
      return authorization.renew(application, renewal);
    };
    return createConnectionTokens(server, { authorization: { renew } });
  };

  it('is renewed by one of several processes, and again an hour later', async () => {
    const { token } = await connectFully();
    const renewals: string[] = [];
    const processes = [openProcess(renewals), openProcess(renewals), openProcess(renewals)];
    const openAll = () => Promise.all(processes.map((process) => process.open(token)));
    await openAll();
    expect(renewals).toEqual([]);
    // Gitea issues tokens for an hour.
    const first = await vault.open(`${token}-renewal`);
    clock.pass({ seconds: 56 * 60 });
    await openAll();
    const second = await vault.open(`${token}-renewal`);
    clock.pass({ seconds: 56 * 60 });
    await openAll();
    // Gitea accepts each of them once.
    expect(renewals).toEqual([first, second]);
    expect(second).not.toBe(first);
    expectStatus(await server.get(`/api/v2/oauth-tokens/${token}/authorized-repos`), 200);
  });

  it('is renewed by another process after one has stopped meanwhile', async () => {
    const { token } = await connectFully();
    clock.pass({ seconds: 56 * 60 });
    const { promise: requested, resolve } = Promise.withResolvers<void>();
    const renew = (): Promise<never> => {
      resolve();
      return new Promise(() => undefined);
    };
    void createConnectionTokens(server, { authorization: { renew } }).open(token);
    await requested;
    const renewals: string[] = [];
    const other = openProcess(renewals);
    const text = await vault.open(token);
    expect(await other.open(token)).toBe(text);
    expect(renewals).toEqual([]);
    clock.pass({ seconds: 60 });
    await other.open(token);
    expect(renewals).toHaveLength(1);
  });
});

describe('a token that the host refuses', () => {
  const listAnswers = async (client: string): Promise<readonly unknown[]> => {
    const events = await server.database.rows<{ type: string }>(sql`
      select type from event_store.events where stream = ${client} and type in ('OauthTokenRefused', 'OauthTokenAccepted')
       order by version`);
    return events.map(({ type }) => type);
  };

  /** A host that refuses a renewal later. */
  const createPendingRenewal = () => {
    const { promise: requested, resolve } = Promise.withResolvers<void>();
    const { promise: refusal, reject } = Promise.withResolvers<never>();
    const renew = (): Promise<never> => {
      resolve();
      return refusal;
    };
    return { renew, requested, refuse: () => reject(new GitHostError('unauthorized', 'invalid_grant')) };
  };

  it('is shown with its connection until a person authorizes the connection again', async () => {
    const { id, path, token, application } = await connectFully();
    await gitea.call('DELETE', `/user/applications/oauth2/${application.id}`);
    clock.pass({ seconds: 61 * 60 });
    const refused = await server.get(`/api/v2/oauth-tokens/${token}/authorized-repos`);
    expect(listProblems(expectStatus(refused, 422))).toEqual([
      [undefined, expect.stringMatching(/refused the application/)],
    ]);
    expect((await show(id)).attributes['token-refused-at']).toMatch(/^20/);
    const next = await gitea.makeApplication(`${server.runtime.settings.publicUrl}${CALLBACK()}`);
    const body = resource('oauth-clients', { key: next.key, secret: next.secret });
    expectStatus(await server.patch(`/api/v2/oauth-clients/${id}`, body), 200);
    const browser = await openBrowserOf(owner);
    expect((await browser.get(await permit(getLocation(await browser.get(path))))).status).toBe(303);
    expect((await show(id)).attributes['token-refused-at']).toBeNull();
    expect(await findToken(id)).toBe(token);
    expectStatus(await server.get(`/api/v2/oauth-tokens/${token}/authorized-repos`), 200);
  });

  it('is accepted again if the host has refused it by mistake', async () => {
    const { id, token } = await connectFully();
    const tokens = createConnectionTokens(server, new GitHosts(['127.0.0.1']));
    const text = (await tokens.open(token)) ?? '';
    await tokens.recordAnswer(token, 'a former text', false);
    expect((await show(id)).attributes['token-refused-at']).toBeNull();
    await tokens.recordAnswer(token, text, false);
    expect((await show(id)).attributes['token-refused-at']).toMatch(/^20/);
    expectStatus(await server.get(`/api/v2/oauth-tokens/${token}/authorized-repos`), 200);
    expect((await show(id)).attributes['token-refused-at']).toBeNull();
  });

  it('is used until it expires, and only then shown as refused', async () => {
    const { id, token } = await connectFully();
    const refuses = (): Promise<never> => Promise.reject(new GitHostError('unauthorized', 'invalid_grant'));
    const tokens = createConnectionTokens(server, { authorization: { renew: refuses } });
    clock.pass({ seconds: 57 * 60 });
    const text = await tokens.open(token);
    expect(text).toBe(await vault.open(token));
    await tokens.recordAnswer(token, text ?? '', true);
    expect(await listAnswers(id)).toEqual([]);
    // The next request gets the reason, although the token has just expired.
    clock.pass({ seconds: 3 * 60 });
    await expect(tokens.open(token)).rejects.toMatchObject({ failure: 'unauthorized', message: 'invalid_grant' });
    await expect(tokens.open(token)).rejects.toMatchObject({ failure: 'unauthorized', message: 'invalid_grant' });
    expect(await listAnswers(id)).toEqual(['OauthTokenRefused']);
  });

  it('is not another one, which a person has authorized meanwhile', async () => {
    const { id, path, token } = await connectFully();
    clock.pass({ seconds: 61 * 60 });
    const { renew, requested, refuse } = createPendingRenewal();
    const renewed = createConnectionTokens(server, { authorization: { renew } }).open(token);
    await requested;
    await authorize(path);
    refuse();
    await expect(renewed).rejects.toMatchObject({ failure: 'unauthorized' });
    expect(await listAnswers(id)).toEqual([]);
    expect((await show(id)).attributes['token-refused-at']).toBeNull();
  });

  it('is not said to be renewed by another process', async () => {
    const { id, token } = await connectFully();
    const tokens = createConnectionTokens(server, new GitHosts(['127.0.0.1']));
    await tokens.recordAnswer(token, (await vault.open(token)) ?? '', false);
    clock.pass({ seconds: 61 * 60 });
    const { renew, requested, refuse } = createPendingRenewal();
    const renewed = createConnectionTokens(server, { authorization: { renew } }).open(token);
    await requested;
    const other = await server.get(`/api/v2/oauth-tokens/${token}/authorized-repos`);
    expect(listProblems(expectStatus(other, 422))).toEqual([[undefined, expect.stringMatching(/Authorize it again/)]]);
    refuse();
    await expect(renewed).rejects.toMatchObject({ failure: 'unauthorized' });
    expect(await listAnswers(id)).toEqual(['OauthTokenRefused']);
  });
});

describe('what renews a token', () => {
  it('ends if a process of an earlier version has stored the token of a person', async () => {
    const { token } = await connectFully();
    const { id: organization } = expectStatus(await server.get('/api/v2/organizations/acme'), 200).body.data;
    await server.database.rows(vault.storeSecret(token, organization, 'token-of-a-person'));
    clock.pass({ seconds: 57 * 60 });
    const renew = (): Promise<never> => Promise.reject(new Error('It must not be renewed'));
    const tokens = createConnectionTokens(server, { authorization: { renew } });
    expect(await tokens.open(token)).toBe('token-of-a-person');
    expect(await vault.open(`${token}-renewal`)).toBeUndefined();
    clock.pass({ seconds: 60 * 60 });
    expect(await tokens.open(token)).toBe('token-of-a-person');
  });

  it('is in no export of the organization', async () => {
    const { token } = await connectFully();
    const owners = (id: string) =>
      server.database.rows(sql`select organization from vault.secrets where id = ${id} and organization <> 'site'`);
    expect([await owners(token), await owners(`${token}-renewal`)]).toEqual([[expect.anything()], []]);
    clock.pass({ seconds: 56 * 60 });
    await createConnectionTokens(server, new GitHosts(['127.0.0.1'])).open(token);
    expect(await owners(`${token}-renewal`)).toEqual([]);
  });

  it('ends with its organization', async () => {
    const { token } = await connectFully();
    expectStatus(await server.delete('/api/v2/organizations/acme'), 204);
    const secrets = [token, `${token}-renewal`].map((secret) => vault.open(secret));
    expect(await Promise.all(secrets)).toEqual([undefined, undefined]);
  });
});
