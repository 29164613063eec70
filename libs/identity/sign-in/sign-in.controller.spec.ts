import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SESSION_COOKIE } from '#api/access';
import { sql } from '#platform/kernel';
import { ensureUser, setEmail } from '#identity/people';
import { FixedClock } from '../../../test/support/clocks.js';
import { readWholeLog } from '../../../test/support/event-log.js';
import { expectStatus, makeMember, makeOrganization, resource } from '../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../test/support/server.js';
import { signInTestUser } from '../../../test/support/sessions.js';
import { expectViewsMatchLog } from '../../../test/support/views-match-log.js';
import { SECOND_FACTOR_COOKIE } from './flow/sign-in-cookies.js';
import { createSignInLink } from './links/sign-in-links.operator.js';
import { enableTotp, FormClient, makeLink, makePerson, PASSWORD, signInByLink } from '../../../test/support/sign-in.js';
import { signInDefinition } from './sign-in.module.js';
import { computeTotpCode } from './totp/totp.codes.js';

const clock = new FixedClock();
let server: TestServer;
let ada: string;

beforeAll(async () => {
  server = await startTestServer({ clock, forBrowsers: true });
  ada = await makePerson(server, 'ada');
});

afterAll(() => server.close());

const open = () => new FormClient(server.url);
const typePassword = (client: FormClient, login: string, password = PASSWORD, more = {}) =>
  client.post('/sign-in', { login, password, ...more });
const outcomeOf = (response: Response) => [response.status, response.headers.get('location')];
const isSignedIn = async (client: FormClient) => (await client.get('/account')).status === 200;
const bodyWithoutChallenge = async (response: Response) =>
  (await response.text()).replaceAll(/data-options="[^"]*"|name="token" value="[^"]*"/g, '');

describe('a password', () => {
  it('signs in by name and by confirmed address in any case', async () => {
    await setEmail(server.store, server.runtime.ids, ada, 'Ada@example.com');
    for (const login of ['ada', 'ADA', ' ada@EXAMPLE.com ']) {
      const client = open();
      expect(outcomeOf(await typePassword(client, login))).toEqual([303, '/app']);
      expect(await isSignedIn(client)).toBe(true);
    }
  });

  it('sets a cookie that scripts and other sites cannot use', async () => {
    const header = (await typePassword(open(), 'ada')).headers
      .getSetCookie()
      .find((cookie) => cookie.startsWith(SESSION_COOKIE));
    expect(header).toMatch(/^__Host-cadastre-session=[\w.]+; Path=\/; Secure; HttpOnly; SameSite=Lax; Expires=/);
  });

  it('gets the same answer for a wrong password and for an unknown user', async () => {
    await ensureUser(server.store, server.runtime.ids, 'nopassword', false);
    const answers = [];
    for (const login of ['ada', 'nobody', 'nopassword']) {
      const response = await typePassword(open(), login, 'four other words');
      answers.push([response.status, (await bodyWithoutChallenge(response)).replace(`value="${login}"`, '')]);
    }
    expect(answers[0]?.[0]).toBe(422);
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[2]).toEqual(answers[0]);
  });

  it.each([
    ['https://attacker.example/', '/app'],
    ['//attacker.example', '/app'],
    ['/oauth/authorize?state=1', '/oauth/authorize?state=1'],
  ])('leads to a page of this server only: %s', async (returnTo, location) => {
    expect(outcomeOf(await typePassword(open(), 'ada', PASSWORD, { return_to: returnTo }))).toEqual([303, location]);
  });

  it('shows the typed name as text', async () => {
    const page = await (await typePassword(open(), '"><script>alert(1)</script>', 'four other words')).text();
    expect(page).not.toContain('<script>alert');
    expect(page).toContain('&quot;&gt;&lt;script&gt;');
  });

  it('is refused with the reason if it is too weak', async () => {
    const client = await signInByLink(server, ada);
    const response = await client.post('/account/password', { password: 'short' });
    expect([response.status, await response.text()]).toEqual([422, expect.stringContaining('at least 12 characters')]);
    expect((await typePassword(open(), 'ada')).status).toBe(303);
  });

  it('is stored as a hash, and nothing of it reaches the log', async () => {
    const row = await server.database.row<{ hash: string }>(
      sql`select hash from sign_in.passwords where user_id = ${ada}`,
    );
    expect(row?.hash).toMatch(/^\$argon2id\$/);
    const log = JSON.stringify(await readWholeLog(server.store));
    expect(log).not.toContain(PASSWORD);
    expect(log).not.toContain('$argon2id');
  });

  it('ends the other sessions of the person when it changes', async () => {
    const [one, two] = [await signInByLink(server, ada), await signInByLink(server, ada)];
    await one.post('/account/password', { password: PASSWORD });
    expect([await isSignedIn(one), await isSignedIn(two)]).toEqual([true, false]);
    const ended = 'Your session has ended. Sign in again.';
    expect(await (await two.get('/sign-in')).text()).toContain(ended);
    expect(await (await open().get('/sign-in')).text()).not.toContain(ended);
  });

  it('changes only after a sign-in of the last 15 minutes', async () => {
    const client = await signInByLink(server, ada);
    clock.pass({ minutes: 16 });
    const again = '/sign-in?confirm=1&return_to=/account';
    expect(outcomeOf(await client.post('/account/password', { password: 'five other words' }))).toEqual([303, again]);
    expect(await (await client.get(again)).text()).toContain('Confirm that it is you');
    const before = client.getCookie(SESSION_COOKIE) ?? '';
    expect(outcomeOf(await typePassword(client, 'ada', PASSWORD))).toEqual([303, '/app']);
    expect((await client.post('/account/password', { password: PASSWORD })).status).toBe(303);
    const old = open();
    old.setCookie(SESSION_COOKIE, before);
    expect(await isSignedIn(old)).toBe(false);
  });
});

describe('the account page', () => {
  it('lists the last changes of the ways to sign in, the first factor included', async () => {
    const { secret } = await enableTotp(server, await makePerson(server, 'frida'));
    const client = open();
    await typePassword(client, 'frida', 'four other words');
    await typePassword(client, 'frida', PASSWORD);
    clock.pass({ seconds: 30 });
    await client.post('/sign-in/second-factor', { code: computeTotpCode(secret, clock.now()) });
    const [, section = ''] = (await (await client.get('/account')).text()).split('id="changes-title"');
    const rows = [...section.matchAll(/<td>([^<]+)<\/td>\s*<td data-label="Address">([^<]+)</g)];
    expect(rows.map(([, change, address]) => [change, address])).toEqual([
      ['Recovery codes were created', '127.0.0.1'],
      ['One-time codes were turned on', '127.0.0.1'],
      ['An operator created a sign-in link', '–'],
      ['The password was set', '127.0.0.1'],
      ['An operator created a sign-in link', '–'],
    ]);
  });

  it('names the organizations that this sign-in does not open', async () => {
    await makeOrganization(server, 'strict');
    const { id } = await makeMember(server, 'strict', 'grace', []);
    const notice = 'You cannot work in strict at the moment';
    const client = await signInByLink(server, id);
    expect(await (await client.get('/account')).text()).not.toContain(notice);
    const policy = resource('organizations', { 'collaborator-auth-policy': 'two_factor_mandatory' });
    expectStatus(await server.patch('/api/v2/organizations/strict', policy), 200);
    expect(await (await client.get('/account')).text()).toContain(notice);
  });
});

describe('a form', () => {
  it.each([
    ['from another site', { origin: 'https://attacker.example' }],
    ['without an origin', {}],
    ['from a page without an origin', { origin: 'null' }],
  ])('is refused %s', async (_, headers) => {
    const client = await signInByLink(server, ada);
    const changes: readonly (readonly [string, Record<string, string>])[] = [
      ['/account/password', { password: 'five other words' }],
      ['/account/sessions/end', {}],
      ['/sign-out', {}],
    ];
    for (const [path, fields] of changes)
      expect((await client.post(path, fields, headers as Record<string, string>)).status).toBe(403);
    const login = { login: 'ada', password: PASSWORD };
    expect((await open().post('/sign-in', login, headers as Record<string, string>)).status).toBe(403);
    expect(await isSignedIn(client)).toBe(true);
  });

  it('with a session that the attacker chose leads to another session', async () => {
    const client = open();
    client.setCookie(SESSION_COOKIE, 'chosen.atlasv1.by-the-attacker');
    await typePassword(client, 'ada');
    expect(client.getCookie(SESSION_COOKIE)).not.toContain('chosen');
    expect(await isSignedIn(client)).toBe(true);
  });

  it('is refused as a page that names the missing field', async () => {
    const response = await open().post('/sign-in', { login: 'ada' });
    expect([response.status, response.headers.get('content-type')]).toEqual([400, 'text/html; charset=utf-8']);
    expect(await response.text()).toContain('password');
  });
});

describe('attempts', () => {
  it('wait longer and longer, for unknown users too, but not on a device that the person has used', async () => {
    const bob = await makePerson(server, 'bob');
    const own = open();
    expect(outcomeOf(await typePassword(own, 'bob'))).toEqual([303, '/app']);
    await own.post('/sign-out');
    const statuses: Record<string, number[]> = {};
    for (const login of ['bob', 'nobody at all']) {
      statuses[login] = [];
      for (let attempt = 0; attempt < 8; attempt += 1)
        statuses[login].push((await typePassword(open(), login, 'four other words')).status);
    }
    expect(statuses['bob']).toEqual([422, 422, 422, 422, 422, 429, 429, 429]);
    expect(statuses['nobody at all']).toEqual(statuses['bob']);
    const blocked = await typePassword(open(), 'bob');
    expect([blocked.status, blocked.headers.get('retry-after')]).toEqual([429, '1']);
    expect(outcomeOf(await typePassword(own, 'bob'))).toEqual([303, '/app']);
    expect(await isSignedIn(await signInByLink(server, bob))).toBe(true);
    clock.pass({ seconds: 2 });
    expect(outcomeOf(await typePassword(open(), 'bob'))).toEqual([303, '/app']);
  });

  it('count by the typed text in any case, and do not reveal which names and addresses exist', async () => {
    const dora = await makePerson(server, 'dora');
    await setEmail(server.store, server.runtime.ids, dora, 'dora@example.com');
    const typeInTurn = async (logins: readonly string[]) => {
      const statuses = [];
      for (const login of logins) statuses.push((await typePassword(open(), login, 'four other words')).status);
      return statuses;
    };
    const spell = (name: string) => [
      name,
      name.toUpperCase(),
      name,
      name,
      name.toUpperCase(),
      name,
      name.toUpperCase(),
    ];
    const existing = await typeInTurn([...spell('dora'), 'dora@example.com', ...spell('DORA@example.com')]);
    expect(existing).toEqual([...Array(5).fill(422), 429, 429, ...Array(5).fill(422), 429, 429, 429]);
    expect(await typeInTurn([...spell('nora'), 'nora@example.com', ...spell('NORA@example.com')])).toEqual(existing);
  });

  it('of others at the address do not delay a browser that the person has used, for the password and the code', async () => {
    const { secret } = await enableTotp(server, await makePerson(server, 'hedy'));
    const signIn = async (client: FormClient) => {
      clock.pass({ seconds: 30 });
      const [first, second] = [
        await typePassword(client, 'hedy'),
        await client.post('/sign-in/second-factor', { code: computeTotpCode(secret, clock.now()) }),
      ];
      return [first.status, outcomeOf(second)];
    };
    const usedBrowser = open();
    expect(await signIn(usedBrowser)).toEqual([303, [303, '/app']]);
    await usedBrowser.post('/sign-out');
    await server.database.rows(sql`
      update sign_in.attempts set failures = 60, next_at = ${new Date(clock.now().getTime() + 900_000)} where key like 'address:%'`);
    expect(await signIn(usedBrowser)).toEqual([303, [303, '/app']]);
    expect((await typePassword(open(), 'hedy')).status).toBe(429);
    expect((await typePassword(usedBrowser, 'ada')).status).toBe(429);
    await server.database.rows(sql`delete from sign_in.attempts where key like 'address:%'`);
  });

  it('at the same time count one by one', async () => {
    await makePerson(server, 'carol');
    const all = await Promise.all(Array.from({ length: 12 }, () => typePassword(open(), 'carol', 'four other words')));
    expect(all.filter(({ status }) => status === 422)).toHaveLength(5);
  });

  it('of the right password and code leave no count of the address', async () => {
    const { secret } = await enableTotp(server, await makePerson(server, 'ines'));
    // One more count would delay the next attempt.
    await server.database.rows(sql`update sign_in.attempts set failures = 48 where key like 'address:%'`);
    for (let signIn = 0; signIn < 4; signIn += 1) {
      clock.pass({ seconds: 30 });
      const client = open();
      const [first, second] = [
        await typePassword(client, 'ines'),
        await client.post('/sign-in/second-factor', { code: computeTotpCode(secret, clock.now()) }),
      ];
      expect([first.status, outcomeOf(second)]).toEqual([303, [303, '/app']]);
    }
    const read = sql`select failures from sign_in.attempts where key like 'address:%'`;
    expect(await server.database.rows<{ failures: number }>(read)).toEqual([{ failures: 48 }]);
    await server.database.rows(sql`delete from sign_in.attempts where key like 'address:%'`);
  });

  it('that fail are recorded in the log with the person', async () => {
    clock.pass({ minutes: 20 });
    await typePassword(open(), 'ada', 'four other words');
    expect((await readWholeLog(server.store)).findLast(({ type }) => type === 'SignInFailed')).toMatchObject({
      data: { user: ada, username: 'ada', method: 'password' },
      context: { accessor: { id: ada }, request: { address: '127.0.0.1' } },
    });
  });
});

describe('one-time codes', () => {
  it('are needed after the password and after a link, and work once', async () => {
    const user = await makePerson(server, 'dora');
    const { secret, code } = await enableTotp(server, user);
    const client = open();
    expect(outcomeOf(await typePassword(client, 'dora', PASSWORD, { return_to: '/x' }))).toEqual([
      303,
      '/sign-in/second-factor?return_to=%2Fx',
    ]);
    expect(await isSignedIn(client)).toBe(false);
    expect((await client.post('/sign-in/second-factor', { code })).status).toBe(422);
    clock.pass({ seconds: 30 });
    const next = computeTotpCode(secret, clock.now());
    const other = open();
    await other.post('/sign-in/link', { secret: await makeLink(server, user) });
    const [first, second] = await Promise.all([
      client.post('/sign-in/second-factor', { code: next, return_to: '/x' }),
      other.post('/sign-in/second-factor', { code: next }),
    ]);
    expect([first.status, second.status].toSorted()).toEqual([303, 422]);
    expect(client.getCookie(SECOND_FACTOR_COOKIE) ?? other.getCookie(SECOND_FACTOR_COOKIE)).toBeDefined();
    expect(
      await server.database.rows(sql`select 1 from sessions where user_id = ${user} and assurance = 'two-factor'`),
    ).toHaveLength(1);
  });

  it('are guessed only a few times', async () => {
    const user = await makePerson(server, 'eve');
    await enableTotp(server, user);
    const client = open();
    await typePassword(client, 'eve');
    const statuses = [];
    for (let attempt = 0; attempt < 6; attempt += 1)
      statuses.push((await client.post('/sign-in/second-factor', { code: '000000' })).status);
    expect(statuses).toEqual([422, 422, 422, 422, 422, 429]);
  });

  it('cannot be skipped with the proof of the password alone', async () => {
    expect(outcomeOf(await open().post('/sign-in/second-factor', { code: '123456' }))).toEqual([303, '/sign-in']);
    const user = await makePerson(server, 'fred');
    const { recoveryCodes } = await enableTotp(server, user);
    const client = open();
    await typePassword(client, 'fred');
    clock.pass({ minutes: 11 });
    expect(outcomeOf(await client.post('/sign-in/second-factor', { code: recoveryCodes[0] ?? '' }))).toEqual([
      303,
      '/sign-in',
    ]);
  });

  it('can be replaced by a recovery code once', async () => {
    const user = await makePerson(server, 'gus');
    const { recoveryCodes } = await enableTotp(server, user);
    const [one, two] = [open(), open()];
    for (const client of [one, two]) await typePassword(client, 'gus');
    const code = recoveryCodes[3] ?? '';
    const answers = await Promise.all([one, two].map((client) => client.post('/sign-in/second-factor', { code })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 422]);
    expect((await readWholeLog(server.store)).filter(({ type }) => type === 'RecoveryCodeUsed')).toHaveLength(1);
  });

  it('have a key that is stored encrypted, and is not in the log', async () => {
    const user = await makePerson(server, 'hugo');
    const { secret, recoveryCodes } = await enableTotp(server, user);
    const row = await server.database.row<{ encrypted: Buffer }>(
      sql`select encrypted from sign_in.totp_secrets where user_id = ${user}`,
    );
    expect(row?.encrypted.toString('latin1')).not.toContain(secret);
    const log = JSON.stringify(await readWholeLog(server.store));
    expect(log).not.toContain(secret);
    expect(log).not.toContain(recoveryCodes[0]);
  });
});

describe('a sign-in link', () => {
  it('signs in once, and opening it does not use it up', async () => {
    const secret = await makeLink(server, ada);
    for (let preview = 0; preview < 2; preview += 1)
      expect((await open().get(`/sign-in/link?secret=${secret}`)).status).toBe(200);
    const answers = await Promise.all([open(), open()].map((client) => client.post('/sign-in/link', { secret })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 422]);
    expect((await open().get(`/sign-in/link?secret=${secret}`)).status).toBe(404);
  });

  it.each([
    ['the console', false, '', '/app'],
    ['the page in its address', false, '&return_to=/app/acme', '/app/acme'],
    ['the console instead of another site', false, '&return_to=https://attacker.example/', '/app'],
    ['the account page if it resets the methods', true, '', '/account'],
  ])('leads to %s', async (_title, resetsMethods, search, next) => {
    const person = await makePerson(server, `link-${next.length}-${search.length}`);
    const secret = await makeLink(server, person, resetsMethods);
    const client = open();
    const page = await (await client.get(`/sign-in/link?secret=${secret}${search}`)).text();
    const [, path = ''] = /name="return_to" value="([^"]*)"/.exec(page) ?? [];
    expect(path).toBe(next);
    expect(outcomeOf(await client.post('/sign-in/link', { secret, return_to: path }))).toEqual([303, next]);
  });

  it('ends after 15 minutes, and with the next link', async () => {
    const late = await makeLink(server, ada);
    clock.pass({ minutes: 15 });
    expect((await open().post('/sign-in/link', { secret: late })).status).toBe(422);
    const earlier = await makeLink(server, ada);
    await makeLink(server, ada);
    expect((await open().post('/sign-in/link', { secret: earlier })).status).toBe(422);
  });

  it('revokes the tokens that the person has when it is used', async () => {
    const person = await makePerson(server, 'ines');
    const owner = await signInTestUser(server, person);
    const path = `/api/v2/users/${person}/authentication-tokens`;
    const create = async () =>
      (await owner.post(path, resource('authentication-tokens', {}))).body.data.attributes.token;
    const tokens = [await create(), await create()];
    const { url } = await createSignInLink(server.runtime, {
      user: person,
      resetsMethods: true,
      revokesTokens: true,
      publicUrl: server.url,
    });
    tokens.push(await create());
    const secret = new URL(url).searchParams.get('secret') ?? '';
    expect(await (await open().get(`/sign-in/link?secret=${secret}`)).text()).toContain('revokes all your tokens');
    const [used, racing] = await Promise.all([open().post('/sign-in/link', { secret }), create().catch(() => null)]);
    expect(used.status).toBe(303);
    // The session ends in the reset, so no token is created after it.
    for (const token of [...tokens, ...(racing ? [racing] : [])]) {
      expect((await server.as(token).get('/api/v2/account/details')).status).toBe(401);
    }
    expect((await owner.get(path)).status).toBe(401);
  });

  it('is recorded as an action of the operator', async () => {
    await makeLink(server, ada);
    expect((await readWholeLog(server.store)).at(-1)).toMatchObject({
      type: 'SignInLinkCreated',
      data: { user: ada, username: 'ada', resetsMethods: false },
      context: { accessor: { name: 'command line' }, auth: 'System' },
    });
  });

  it('is stored as a hash', async () => {
    const secret = await makeLink(server, ada);
    expect(JSON.stringify(await readWholeLog(server.store))).not.toContain(secret);
    const rows = await server.database.rows<{ text: string }>(sql`select links::text as text from sign_in.links links`);
    expect(JSON.stringify(rows)).not.toContain(secret);
  });
});

describe('a person who is forgotten', () => {
  it('leaves no secret', async () => {
    const user = await makePerson(server, 'iris');
    await enableTotp(server, user);
    expect((await server.delete(`/api/v2/admin/users/${user}`)).status).toBe(204);
    for (const table of ['passwords', 'totp_secrets', 'recovery_codes', 'passkeys', 'links']) {
      expect(
        await server.database.rows(sql`select 1 from ${sql.raw(`sign_in.${table}`)} where user_id = ${user}`),
      ).toEqual([]);
    }
    expect((await typePassword(open(), 'iris')).status).toBe(422);
  });

  it('leaves views that match the log', () => expectViewsMatchLog(server, [signInDefinition]));
});
