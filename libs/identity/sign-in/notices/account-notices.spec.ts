import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { createMailer } from '#platform/outbound';
import { ensureUser, setEmail } from '#identity/people';
import { AdjustableClock } from '../../../../test/support/clocks.js';
import { waitForFollowers } from '../../../../test/support/event-log.js';
import { getMailHeader, startMailServer, type TestMailServer } from '../../../../test/support/mail-server.js';
import { runJobOnce } from '../../../../test/support/scheduled-jobs.js';
import { expectStatus, makeOrganization, makeTeam, resource } from '../../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import { signInTestUser } from '../../../../test/support/sessions.js';
import { FormClient, makePerson, PASSWORD } from '../../../../test/support/sign-in.js';
import { quiet } from '../../../../test/support/silent-logger.js';
import { createAccountMailsJob } from './account-mails.job.js';
import { renderAccountMail } from './account-mails.renderer.js';

const PUBLIC_URL = 'https://cadastre.example.com';

let server: TestServer;
let clock: AdjustableClock;
let mail: TestMailServer;
let people = 0;

beforeAll(async () => {
  mail = await startMailServer();
  clock = new AdjustableClock();
  server = await startTestServer({ clock, followers: true });
  await makeOrganization(server, 'acme');
});
beforeEach(() => mail.reset());
afterAll(async () => {
  await server.close();
  await mail.close();
});

const passMinutes = (minutes: number): void => void (clock.offsetMs += minutes * 60_000);

const createJob = (port: number | null = mail.port) =>
  createAccountMailsJob({
    store: server.store,
    clock,
    logger: quiet,
    mailer:
      port === null
        ? null
        : createMailer({
            host: '127.0.0.1',
            port,
            tls: 'off',
            credentials: null,
            from: { name: 'Cadastre', address: 'cadastre@example.com' },
            timeoutMs: 10_000,
          }),
    publicUrl: PUBLIC_URL,
    random: () => 0.5,
  });

/** Sends what is due. Resolves to the number of attempts. */
const sendMails = async (job = createJob()): Promise<number> => {
  await waitForFollowers(server.store, 'account_notices');
  return runJobOnce(job);
};

/** Creates a person with a password and an address. The mail about that is not in `mail.received`. */
const makeNotified = async (): Promise<{ readonly id: string; readonly name: string; readonly email: string }> => {
  people += 1;
  const name = `person-${people}`;
  const id = await makePerson(server, name);
  const email = `${name}@people.test`;
  await setEmail(server.store, server.runtime.ids, id, email);
  await sendMails();
  passMinutes(5);
  mail.reset();
  return { id, name, email };
};

const signIn = async (name: string, client = new FormClient(server.url, server.runtime.settings.publicUrl)) => {
  const response = await client.post('/sign-in', { login: name, password: PASSWORD });
  expect(response.status).toBe(303);
  return client;
};
const createToken = async (user: string, description = 'laptop') => {
  const api = await signInTestUser(server, user);
  const body = resource('authentication-tokens', { description });
  return expectStatus(await api.post(`/api/v2/users/${user}/authentication-tokens`, body), 201).body.data;
};
const listStatuses = async (user: string): Promise<readonly string[]> => {
  const rows = await server.database.rows<{ status: string }>(
    sql`select status from sign_in.account_mails where user_id = ${user} order by created_at`,
  );
  return rows.map(({ status }) => status);
};
const listSubjects = () => mail.received.map((one) => getMailHeader(one, 'Subject'));

describe('the changes of an account', () => {
  it('are listed for the person and for site administrators, and for nobody else', async () => {
    const { id } = await makeNotified();
    await createToken(id);
    await waitForFollowers(server.store, 'account_notices');
    const path = `/api/v2/users/${id}/account-changes`;
    const own = await signInTestUser(server, id);
    const { data } = expectStatus(await own.get(path), 200).body;
    expect(data.map(({ attributes }: any) => attributes.event)).toEqual([
      'AuthenticationTokenCreated',
      'PasswordSet',
      'SessionStarted',
      'SignInLinkCreated',
    ]);
    expect(data[1]).toMatchObject({
      type: 'account-changes',
      attributes: { description: 'The password was set', address: '127.0.0.1' },
      relationships: { user: { data: { id, type: 'users' } } },
    });
    expect(expectStatus(await server.get(path), 200).body.data).toEqual(data);
    const other = await signInTestUser(server, (await makeNotified()).id);
    expectStatus(await other.get(path), 404);
    expectStatus(await server.get('/api/v2/users/user-0000000000000000/account-changes'), 404);
  });

  it('are empty for a user that has never signed in', async () => {
    const { id } = await ensureUser(server.store, server.runtime.ids, 'quiet', false);
    expect(expectStatus(await server.get(`/api/v2/users/${id}/account-changes`), 200).body.data).toEqual([]);
  });
});

describe('the account page', () => {
  it('lists new tokens and sign-ins with new browsers', async () => {
    const { id, name } = await makeNotified();
    await createToken(id);
    const browser = await signIn(name);
    await signIn(name, browser);
    await waitForFollowers(server.store, 'account_notices');
    const [, section = ''] = (await (await browser.get('/account')).text()).split('id="changes-title"');
    expect([...section.matchAll(/<td>([^<]+)<\/td>/g)].map(([, text]) => text)).toEqual([
      'A new browser signed in',
      'A token was created',
      'The password was set',
      'A new browser signed in',
      'An operator created a sign-in link',
    ]);
    expect(section).toMatch(/A new browser signed in<\/td>\s*<td data-label="Address">127\.0\.0\.1<\/td>/);
  });
});

describe('a person with an address', () => {
  it('gets a mail about a token, without its secret and its description', async () => {
    const { id, name, email } = await makeNotified();
    const { attributes } = await createToken(id, 'visit evil.example now');
    expect(await sendMails()).toBe(1);
    const [message] = mail.received;
    expect(message?.to).toEqual([email]);
    expect(listSubjects()).toEqual(['Your account at cadastre.example.com: A token was created']);
    for (const text of [attributes.token, 'evil.example', name + ' ']) expect(message?.source).not.toContain(text);
    const links = [...(message?.source.replaceAll('=\r\n', '') ?? '').matchAll(/https?:[^\s"<]+/g)].map(
      ([link]) => link,
    );
    expect([...new Set(links)]).toEqual([`${PUBLIC_URL}/account`]);
    expect(await sendMails()).toBe(0);
  });

  it('gets a mail about the token of a team that they create', async () => {
    await makeNotified();
    const team = await makeTeam(server, 'acme', `team-${people}`);
    const { id } = expectStatus(await server.get('/api/v2/account/details'), 200).body.data;
    await setEmail(server.store, server.runtime.ids, id, 'admin@people.test');
    const body = resource('authentication-tokens', { description: 'ci' });
    expectStatus(await server.post(`/api/v2/teams/${team}/authentication-tokens`, body), 201);
    expect(await sendMails()).toBe(1);
    expect(mail.received.map(({ to }) => to)).toEqual([['admin@people.test']]);
  });

  it('gets one mail in five minutes, with everything since the last one', async () => {
    const { id } = await makeNotified();
    await createToken(id);
    await sendMails();
    for (let count = 0; count < 25; count += 1) await createToken(id);
    expect(await sendMails()).toBe(0);
    passMinutes(5);
    expect(await sendMails()).toBe(1);
    expect(listSubjects()).toEqual([
      'Your account at cadastre.example.com: A token was created',
      'Your account at cadastre.example.com: 25 changes',
    ]);
    expect(mail.received[1]?.source).toContain('And 5 earlier changes.');
  });

  it('gets the mail later if the mail server is away, with the same id, and newer changes in another mail', async () => {
    const { id } = await makeNotified();
    await createToken(id);
    mail.answer({ message: () => [451, 'later'] });
    expect(await sendMails()).toBe(1);
    await createToken(id);
    expect(await sendMails()).toBe(0);
    mail.answer({ message: () => null });
    passMinutes(6);
    expect(await sendMails()).toBe(1);
    expect(await sendMails()).toBe(1);
    expect(listSubjects()).toEqual([
      'Your account at cadastre.example.com: A token was created',
      'Your account at cadastre.example.com: A token was created',
    ]);
    expect(new Set(mail.received.map((one) => getMailHeader(one, 'Message-ID'))).size).toBe(2);
    expect(await listStatuses(id)).toEqual(['sent', 'sent', 'sent']);
  });

  it('gets the same mail after a process was killed while it sent', async () => {
    const { id } = await makeNotified();
    await createToken(id);
    mail.answer({ message: () => 'silent' });
    await waitForFollowers(server.store, 'account_notices');
    const stop = new AbortController();
    const run = createJob().run({ signal: stop.signal, done: () => undefined });
    const killed = run.catch((error: unknown) => error);
    await waitForMessage();
    stop.abort();
    expect(await killed).toBeInstanceOf(Error);
    mail.answer({ message: () => null });
    expect(await sendMails()).toBe(0);
    passMinutes(1);
    expect(await sendMails()).toBe(1);
    const [first, second] = mail.received.map((one) => getMailHeader(one, 'Message-ID'));
    expect(first).toBe(second);
  });

  it('gets no mail if the server refuses the address for good', async () => {
    const { id } = await makeNotified();
    await createToken(id);
    mail.answer({ recipient: () => [550, 'unknown'] });
    expect(await sendMails()).toBe(1);
    passMinutes(60);
    expect(await sendMails()).toBe(0);
    expect(await listStatuses(id)).toEqual(['sent', 'failed']);
  });

  it('gets no mail after a suspension, nor about what happened more than a day ago', async () => {
    const { id } = await makeNotified();
    await createToken(id);
    await waitForFollowers(server.store, 'account_notices');
    passMinutes(24 * 60 + 1);
    expect(await sendMails()).toBe(0);
    await createToken(id);
    expectStatus(await server.post(`/api/v2/admin/users/${id}/actions/suspend`), 200);
    await sendMails();
    expect([mail.received, await listStatuses(id)]).toEqual([[], ['sent', 'skipped']]);
  });
});

/** Resolves when the mail server has a message. */
const waitForMessage = async (): Promise<void> => {
  while (mail.received.length === 0) await new Promise((resolve) => setImmediate(resolve));
};

describe('the job without a mail server', () => {
  it('sends nothing, and deletes old notices', async () => {
    const { id } = await makeNotified();
    await createToken(id);
    expect(await sendMails(createJob(null))).toBe(0);
    expect(await listStatuses(id)).toEqual(['sent']);
    passMinutes(91 * 24 * 60);
    await sendMails(createJob(null));
    const left = await server.database.rows(sql`select 1 from sign_in.account_notices where user_id = ${id}`);
    expect(left).toEqual([]);
  });
});

describe('the text of a mail', () => {
  it.each([
    ['fe80::1%evil.example', 'fe80::1'],
    ['evil.example', 'unknown'],
    ['203.0.113.7', '203.0.113.7'],
    [null, 'none'],
  ])('has no host name for the address %s', (address, shownAddress) => {
    const change = { type: 'SessionStarted', time: '2026-11-28T12:00:00.000Z', address } as const;
    const { text, html } = renderAccountMail({ changes: [change], total: 1, publicUrl: PUBLIC_URL });
    expect(text).toContain(`- A new browser signed in, 2026-11-28 12:00 UTC, address ${shownAddress}\n`);
    expect(text + html).not.toContain('evil');
  });
});
