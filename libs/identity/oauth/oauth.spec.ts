import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { endSessions, ensureUser, makeOwner } from '#identity/people';
import { createSystemContext, SESSION_COOKIE } from '#api/access';
import { FixedClock } from '../../../test/support/clocks.js';
import { readWholeLog, waitForFollowers } from '../../../test/support/event-log.js';
import {
  AUTHORIZATION,
  REDIRECT_URI,
  sendOauthForm,
  toConsentPath,
  toTokenForm,
  VERIFIER,
  type OauthAnswer,
} from '../../../test/support/oauth.js';
import {
  expectStatus,
  makeOrganization,
  makeOrganizationToken,
  makeTeam,
  makeToken,
} from '../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../test/support/server.js';
import { startTestSession } from '../../../test/support/sessions.js';
import { FormClient } from '../../../test/support/sign-in.js';

const clock = new FixedClock();
let server: TestServer;
let ada: string;
let acme: string;

beforeAll(async () => {
  server = await startTestServer({
    clock,
    followers: true,
    forBrowsers: true,
    env: { CADASTRE_TOKEN_LIFETIME: '90d' },
  });
  acme = (await makeOrganization(server, 'acme')).id;
  ada = await makeUser('ada');
  await makeOwner(server.store, server.runtime.ids, { id: ada, username: 'ada' }, 'acme');
});

afterAll(() => server.close());

const makeUser = async (name: string): Promise<string> =>
  (await ensureUser(server.store, server.runtime.ids, name, false)).id;

type Person = FormClient & { readonly session: string };

const signIn = async (user = ada, signIn = {}): Promise<Person> => {
  const { id, secret } = await startTestSession(server, user, signIn);
  const client = new FormClient(server.url);
  client.setCookie(SESSION_COOKIE, secret);
  return Object.assign(client, { session: id });
};

const decide = (person: FormClient, decision: string, path = toConsentPath()) => person.post(path, { decision });

const targetOf = (response: Response): URL => new URL(response.headers.get('location') ?? '', server.url);
const answerOf = (response: Response) => Object.fromEntries(targetOf(response).searchParams);

/** Returns the code of a login that the person approves. */
const approve = async (person?: FormClient): Promise<string> =>
  answerOf(await decide(person ?? (await signIn()), 'approve'))['code'] ?? '';

const exchange = (code: string, changes: Readonly<Record<string, string>> = {}): Promise<OauthAnswer> =>
  sendOauthForm(server.url, '/oauth/token', { ...toTokenForm(code), ...changes });

const revoke = (token: string, more = {}) => sendOauthForm(server.url, '/oauth/revoke', { token, ...more });

const statusOf = async (token: string) => (await server.as(token).get('/api/v2/account/details')).status;

const expectError = ({ status, body }: OauthAnswer, error: string, description: string): void =>
  expect([status, body]).toEqual([400, { error, error_description: expect.stringContaining(description) }]);

describe('the discovery document', () => {
  it('announces the login', async () => {
    const { body, headers } = await server.as(null).get('/.well-known/terraform.json');
    expect(headers.get('content-type')).toBe('application/json');
    expect(body['login.v1']).toEqual({
      client: 'terraform-cli',
      grant_types: ['authz_code'],
      authz: '/oauth/authorize',
      token: '/oauth/token',
      ports: [10_000, 10_010],
    });
  });

  it('of OAuth contains the addresses of the site', async () => {
    const { body } = await server.as(null).get('/.well-known/oauth-authorization-server');
    expect(body).toMatchObject({
      issuer: server.url,
      authorization_endpoint: `${server.url}/oauth/authorize`,
      token_endpoint: `${server.url}/oauth/token`,
      revocation_endpoint: `${server.url}/oauth/revoke`,
      code_challenge_methods_supported: ['S256'],
      grant_types_supported: ['authorization_code', 'urn:ietf:params:oauth:grant-type:token-exchange'],
    });
  });
});

describe('a login', () => {
  it('leads to a token of the person that is named after the login and ends', async () => {
    const { status, body, headers } = await exchange(await approve());
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(body).toEqual({ access_token: expect.any(String), token_type: 'Bearer', expires_in: 90 * 86_400 });
    const api = server.as(body.access_token as string);
    expect((await api.get('/api/v2/account/details')).body.data.id).toBe(ada);
    const [token] = (await api.get(`/api/v2/users/${ada}/authentication-tokens`)).body.data;
    const at = clock.now().toISOString();
    expect(token.attributes).toMatchObject({
      description: `terraform login, ${at.slice(0, 10)} ${at.slice(11, 16)} UTC, 127.0.0.1`,
      'expired-at': new Date(clock.now().getTime() + 90 * 86_400_000).toISOString(),
      token: null,
    });
    expect(token.relationships['created-by'].data).toEqual({ type: 'users', id: ada });
  });

  it('is recorded in the log and in the trail of the organization, without its secrets', async () => {
    const code = await approve(await signIn(ada, { method: 'passkey', assurance: 'two-factor' }));
    const { body } = await exchange(code);
    const created = (await readWholeLog(server.store)).findLast(({ type }) => type === 'AuthenticationTokenCreated');
    expect(created).toMatchObject({
      data: { kind: 'user', owner: ada, assurance: 'two-factor', organizations: [acme] },
      context: { accessor: { id: ada }, request: { address: '127.0.0.1', userAgent: 'Terraform/1.11.4' } },
    });
    const log = JSON.stringify(await readWholeLog(server.store));
    const stored = JSON.stringify(
      await server.database.rows<{ text: string }>(
        sql`select codes::text as text from oauth.authorization_codes codes`,
      ),
    );
    for (const secret of [code, body.access_token, VERIFIER]) {
      expect(log).not.toContain(secret);
      expect(stored).not.toContain(secret);
    }
    await waitForFollowers(server.store, 'audit_trail');
    const reader = server.as(await makeOrganizationToken(server, 'acme'));
    const entries = (await reader.get('/api/v2/organization/audit-trail')).body.data as any[];
    expect(entries.find(({ resource }) => resource.id === created?.stream)).toMatchObject({
      auth: { accessor_id: ada },
      request: { user_agent: 'Terraform/1.11.4' },
      resource: { type: 'authentication_token', action: 'create', meta: { user_id: ada } },
    });
  });

  it('returns the state of the program and the issuer', async () => {
    const response = await decide(await signIn(), 'approve');
    expect([response.status, targetOf(response).origin + targetOf(response).pathname]).toEqual([303, REDIRECT_URI]);
    expect(answerOf(response)).toEqual({
      code: expect.stringMatching(/^[\w.]{60,}$/),
      state: AUTHORIZATION['state'],
      iss: server.url,
    });
  });

  it('that is denied leads to no token, and the program learns why', async () => {
    const response = await decide(await signIn(), 'deny');
    const { error, code, state } = answerOf(response);
    expect([error, state]).toEqual(['access_denied', AUTHORIZATION['state']]);
    expectError(await exchange(code ?? ''), 'access_denied', 'The login was denied in the browser.');
  });

  it('of a program without a known name is named after the command line', async () => {
    const code = await approve();
    await sendOauthForm(server.url, '/oauth/token', toTokenForm(code), { 'user-agent': 'curl/8' });
    const created = (await readWholeLog(server.store)).findLast(({ type }) => type === 'AuthenticationTokenCreated');
    expect(created?.data).toMatchObject({ description: expect.stringMatching(/^command-line login, /) });
  });
});

describe('the consent page', () => {
  it('names the server, the program, the person and the end of the token', async () => {
    const response = await (await signIn()).get(toConsentPath());
    const text = await response.text();
    expect([response.status, response.headers.get('content-security-policy')]).toEqual([
      200,
      expect.stringContaining("form-action 'self' http://localhost:10003;"),
    ]);
    const end = new Date(clock.now().getTime() + 90 * 86_400_000).toISOString().slice(0, 10);
    for (const part of [new URL(server.url).host, 'localhost:10003', '<strong>ada</strong>', end])
      expect(text).toContain(part);
  });

  it('sends a person without a session to the sign-in page, which leads back', async () => {
    const response = await new FormClient(server.url).get(toConsentPath());
    expect([response.status, targetOf(response).pathname]).toEqual([303, '/sign-in']);
    expect(answerOf(response)['return_to']).toBe(toConsentPath());
    const longest = toConsentPath({ state: 'ü'.repeat(1).replace('ü', '&').repeat(256) });
    const page = await (
      await new FormClient(server.url).get(`/sign-in?return_to=${encodeURIComponent(longest)}`)
    ).text();
    expect(page).toContain('state=%26%26');
  });

  it('lets another person sign in', async () => {
    const person = await signIn();
    const page = await (await person.get(toConsentPath())).text();
    const path = (/href="(\/sign-in\?switch[^"]+)"/.exec(page)?.[1] ?? '').replaceAll('&amp;', '&');
    const response = await person.get(path);
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('name="return_to"')]);
  });

  it.each([
    ['an unknown client', { client_id: 'other' }, 'client_id'],
    ['no client', { client_id: undefined }, 'client_id'],
    ['a port outside the range', { redirect_uri: 'http://localhost:9999/login' }, 'redirect_uri'],
    ['a port above the range', { redirect_uri: 'http://localhost:10011/login' }, 'redirect_uri'],
    ['another host', { redirect_uri: 'http://attacker.example:10003/login' }, 'redirect_uri'],
    ['a host that begins like this computer', { redirect_uri: 'http://localhost.attacker.example:10003/login' }, 'uri'],
    ['a user before another host', { redirect_uri: 'http://localhost:10003/login@attacker.example' }, 'redirect_uri'],
    ['another path', { redirect_uri: 'http://localhost:10003/other' }, 'redirect_uri'],
    ['another scheme', { redirect_uri: 'https://localhost:10003/login' }, 'redirect_uri'],
    ['no redirect URI', { redirect_uri: undefined }, 'redirect_uri'],
  ])('refuses %s with a page, and redirects nowhere', async (_, changes, parameter) => {
    const person = await signIn();
    for (const response of [
      await person.get(toConsentPath(changes)),
      await decide(person, 'approve', toConsentPath(changes)),
    ]) {
      expect([response.status, response.headers.get('location')]).toEqual([400, null]);
      expect(await response.text()).toContain(parameter);
    }
  });

  it('refuses a repeated client or redirect URI with a page', async () => {
    for (const repeated of ['client_id=terraform-cli', `redirect_uri=${encodeURIComponent(REDIRECT_URI)}`]) {
      const response = await (await signIn()).get(`${toConsentPath()}&${repeated}`);
      expect([response.status, response.headers.get('location')]).toEqual([400, null]);
    }
  });

  it.each([
    ['a plain challenge', { code_challenge_method: 'plain' }, 'invalid_request', 'S256'],
    [
      'a challenge without a method, which means plain',
      { code_challenge_method: undefined },
      'invalid_request',
      'S256',
    ],
    ['no challenge', { code_challenge: undefined }, 'invalid_request', 'code_challenge: is required'],
    ['a short challenge', { code_challenge: 'a'.repeat(42) }, 'invalid_request', '43 to 128'],
    ['a long challenge', { code_challenge: 'a'.repeat(129) }, 'invalid_request', '43 to 128'],
    ['another response type', { response_type: 'token' }, 'unsupported_response_type', 'must be code'],
    ['no response type', { response_type: undefined }, 'invalid_request', 'must be code'],
    ['a scope', { scope: 'everything' }, 'invalid_scope', 'there are no scopes'],
    ['a long state', { state: 'a'.repeat(257) }, 'invalid_request', 'state'],
    ['a state with a line break', { state: 'a\nb' }, 'invalid_request', 'state'],
  ])('returns to the program with an error for %s', async (_, changes, error, description) => {
    const person = await signIn();
    for (const response of [
      await person.get(toConsentPath(changes)),
      await decide(person, 'approve', toConsentPath(changes)),
    ]) {
      expect([response.status, targetOf(response).host]).toEqual([303, 'localhost:10003']);
      const answer = answerOf(response);
      expect(answer).toMatchObject({ error, error_description: expect.stringContaining(description), iss: server.url });
      expect(answer).not.toHaveProperty('code');
    }
  });

  it('returns to the program with an error for too many parameters', async () => {
    const many = Array.from({ length: 20 }, (_, n) => `p${n}=1`).join('&');
    const response = await (await signIn()).get(`${toConsentPath()}&${many}`);
    expect(answerOf(response)).toMatchObject({ error: 'invalid_request', state: AUTHORIZATION['state'] });
  });

  it.each([
    ['of another site', { origin: 'https://attacker.example' }],
    ['without an origin', {}],
  ])('refuses a form %s', async (_, headers) => {
    const person = await signIn();
    const form = { decision: 'approve' };
    const response = await person.post(toConsentPath(), form, headers as Record<string, string>);
    expect([response.status, response.headers.get('location')]).toEqual([403, null]);
  });

  it('refuses a form without a decision, and a large one', async () => {
    const person = await signIn();
    expect((await person.post(toConsentPath(), {})).status).toBe(400);
    expect((await person.post(toConsentPath(), { decision: 'approve', more: 'a'.repeat(1_024) })).status).toBe(413);
  });

  it('asks a person whose session has ended to sign in, and then again', async () => {
    const person = await signIn();
    expect((await person.get(toConsentPath())).status).toBe(200);
    await endSession(person);
    const response = await decide(person, 'approve');
    expect([response.status, targetOf(response).pathname, answerOf(response)['return_to']]).toEqual([
      303,
      '/sign-in',
      toConsentPath(),
    ]);
  });
});

const endSession = ({ session }: Person) =>
  endSessions(
    server.store,
    { user: ada, where: sql`session.id = ${session}`, reason: 'revoked' },
    createSystemContext('test', server.runtime.ids.uuid()),
  );

describe('a code', () => {
  it('works once, and its second use revokes the token', async () => {
    const code = await approve();
    const { body } = await exchange(code);
    expect(await statusOf(body.access_token as string)).toBe(200);
    expectError(await exchange(code), 'invalid_grant', 'used already');
    expect(await statusOf(body.access_token as string)).toBe(401);
    expect((await readWholeLog(server.store)).at(-1)).toMatchObject({
      type: 'AuthenticationTokenDestroyed',
      context: { accessor: { name: 'OAuth' }, auth: 'System', request: { address: '127.0.0.1' } },
    });
    expectError(await exchange(code), 'invalid_grant', 'used already');
  });

  it('that is used many times at once leaves no token', async () => {
    const code = await approve();
    const answers = await Promise.all(Array.from({ length: 8 }, () => exchange(code)));
    const issued = answers.filter(({ status }) => status === 200);
    expect(issued.length).toBeLessThanOrEqual(1);
    for (const { body } of issued) expect(await statusOf(body.access_token as string)).toBe(401);
    expectError(await exchange(code), 'invalid_grant', 'used already');
  });

  it('works for 60 seconds', async () => {
    const [early, late] = [await approve(), await approve()];
    clock.pass({ seconds: 59 });
    expect((await exchange(early)).status).toBe(200);
    clock.pass({ seconds: 1 });
    expectError(await exchange(late), 'invalid_grant', 'expired');
  });

  it.each([
    ['another verifier', { code_verifier: 'b'.repeat(43) }, 'code_verifier'],
    ['another client', { client_id: 'other' }, 'another client'],
    ['another redirect URI', { redirect_uri: 'http://localhost:10004/login' }, 'redirect_uri'],
  ])('is refused with %s, and is used up', async (_, changes, description) => {
    const code = await approve();
    expectError(await exchange(code, changes), 'invalid_grant', description);
    expectError(await exchange(code), 'invalid_grant', 'used already');
  });

  it('is refused if it is unknown', async () => {
    expectError(await exchange('unknown'), 'invalid_grant', 'unknown');
  });

  it('is refused if the session in which it was approved has ended', async () => {
    const person = await signIn();
    const code = await approve(person);
    await endSession(person);
    expectError(await exchange(code), 'invalid_grant', 'has ended');
  });

  it('is refused if the person is suspended', async () => {
    const bob = await makeUser('bob');
    const person = await signIn(bob);
    const code = await approve(person);
    expectStatus(await server.post(`/api/v2/admin/users/${bob}/actions/suspend`), 200);
    expectError(await exchange(code), 'invalid_grant', 'has ended');
    const response = await decide(person, 'approve');
    expect([response.status, targetOf(response).pathname]).toEqual([303, '/sign-in']);
  });

  it('is deleted after a day', async () => {
    await approve();
    clock.pass({ days: 1, seconds: 1 });
    await approve();
    const rows = await server.database.rows<{ n: number }>(sql`select 1 as n from oauth.authorization_codes`);
    expect(rows).toHaveLength(1);
  });
});

describe('the token endpoint', () => {
  it.each([
    ['no parameter', {}, 'invalid_request', 'grant_type'],
    ['an unknown grant', { grant_type: 'password' }, 'unsupported_grant_type', 'authorization_code'],
    ['no code', { grant_type: 'authorization_code' }, 'invalid_request', 'code'],
    ['a short verifier', { ...toTokenForm('a'), code_verifier: 'a'.repeat(42) }, 'invalid_request', '43 to 128'],
    ['a long code', toTokenForm('a'.repeat(201)), 'invalid_request', 'code'],
  ])('refuses %s', async (_, form, error, description) => {
    expectError(await sendOauthForm(server.url, '/oauth/token', form as {}), error, description);
  });

  it('refuses a repeated parameter, too many parameters, a large body and JSON, in the format of OAuth', async () => {
    const many = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`p${n}`, '1']));
    const send = (form: Record<string, string> | string, headers = {}) =>
      sendOauthForm(server.url, '/oauth/token', form, headers);
    const repeated = `${new URLSearchParams(toTokenForm('a')).toString()}&code=b`;
    expectError(await send(repeated), 'invalid_request', 'more than once');
    expectError(await send({ ...toTokenForm('a'), ...many }), 'invalid_request', 'at most 20 parameters');
    const large = await send(toTokenForm('a'.repeat(16 * 1_024)));
    expect([large.status, large.body.error]).toEqual([413, 'invalid_request']);
    const json = await send('{}', { 'content-type': 'application/json' });
    expect([json.status, json.body.error]).toEqual([415, 'invalid_request']);
  });
});

describe('a revocation', () => {
  it('ends the token, and does nothing for a token that is unknown or revoked', async () => {
    const { body } = await exchange(await approve());
    const token = body.access_token as string;
    expect(await statusOf(token)).toBe(200);
    const hinted = await revoke(token, { token_type_hint: 'access_token', client_id: 'terraform-cli' });
    expect([hinted.status, hinted.body]).toEqual([200, null]);
    expect(await statusOf(token)).toBe(401);
    for (const unknown of [token, 'nobody.atlasv1.unknown']) expect((await revoke(unknown)).status).toBe(200);
    expect((await readWholeLog(server.store)).at(-1)).toMatchObject({
      type: 'AuthenticationTokenDestroyed',
      context: { accessor: { id: ada } },
    });
  });

  it('ends a token of a person that no login created', async () => {
    const admin = (await server.get('/api/v2/account/details')).body.data.id as string;
    const token = await makeToken(server, `/api/v2/users/${admin}/authentication-tokens`);
    expect((await revoke(token)).status).toBe(200);
    expect(await statusOf(token)).toBe(401);
  });

  it('refuses the token of a team, which stays valid', async () => {
    const team = await makeTeam(server, 'acme', 'delivery');
    const token = await makeToken(server, `/api/v2/teams/${team}/authentication-token`);
    expectError(await revoke(token), 'unsupported_token_type', 'belongs to no person');
    expect(await statusOf(token)).toBe(200);
  });

  it('does not end a session', async () => {
    const person = await signIn();
    const secret = person.getCookie(SESSION_COOKIE) ?? '';
    for (const text of [secret, `session ${secret}`]) expect((await revoke(text)).status).toBe(200);
    expect((await person.get('/account')).status).toBe(200);
  });

  it('refuses a request without a token', async () => {
    expectError(await sendOauthForm(server.url, '/oauth/revoke', {}), 'invalid_request', 'token');
  });
});
