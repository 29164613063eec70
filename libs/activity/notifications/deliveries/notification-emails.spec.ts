import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { createMailer, type MailServer } from '#platform/outbound';
import { TickingClock } from '../../../../test/support/clocks.js';
import { waitForFollowers } from '../../../../test/support/event-log.js';
import {
  getMailHeader,
  makeMailConfiguration,
  newMailConfiguration,
  startMailServer,
  toMailSettings,
  type TestMailServer,
} from '../../../../test/support/mail-server.js';
import { newNotificationConfiguration } from '../../../../test/support/notification-receiver.js';
import { listProblems } from '../../../../test/support/responses.js';
import { runJobOnce } from '../../../../test/support/scheduled-jobs.js';
import {
  expectStatus,
  makeConfigurationVersion,
  makeMember,
  makeOrganization,
  makeOrganizationToken,
  makeRun,
  makeTeam,
  makeWorkspace,
  resource,
  type SeededMember,
} from '../../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import { expectViewsMatchLog } from '../../../../test/support/views-match-log.js';
import { createDestinationFetch, createNotificationDeliveriesJob, notificationsDefinition } from '../index.js';

let server: TestServer;
let clock: TickingClock;
let mail: TestMailServer;
let workspace: string;
let ada: SeededMember;
let bob: SeededMember;

beforeAll(async () => {
  mail = await startMailServer();
  clock = new TickingClock();
  server = await startTestServer({ clock, followers: true, env: toMailSettings(mail) });
  await makeOrganization(server, 'acme');
  workspace = await makeWorkspace(server, 'acme', 'app');
  ada = await makeMember(server, 'acme', 'ada');
  bob = await makeMember(server, 'acme', 'bob');
});
beforeEach(() => mail.reset());
afterEach(async () => {
  await server.database.transaction([sql`delete from notifications.deliveries`]);
});
afterAll(async () => {
  await server.close();
  await mail.close();
});

const byId = (id: string): string => `/api/v2/notification-configurations/${id}`;
const ofWorkspace = (): string => `/api/v2/workspaces/${workspace}/notification-configurations`;
const setUsers = (id: string, users: readonly string[], attributes: object = {}) => {
  const data = users.map((user) => ({ type: 'users', id: user }));
  return server.patch(byId(id), resource('notification-configurations', attributes, { users: { data } }));
};
const show = async (id: string) => expectStatus(await server.get(byId(id)), 200).body.data;
const listUsers = (data: { relationships: { users: { data: { id: string }[] } } }): readonly string[] =>
  data.relationships.users.data.map(({ id }) => id);
const listRecipients = (): readonly string[] => mail.received.flatMap(({ to }) => to).toSorted();

const atMailServer = (more: Partial<MailServer> = {}) =>
  createMailer({
    host: '127.0.0.1',
    port: mail.port,
    tls: 'off',
    credentials: null,
    from: { name: 'Cadastre', address: 'cadastre@example.com' },
    timeoutMs: 10_000,
    ...more,
  });

/** Sends what is due. Resolves to the number of attempts. */
const deliver = async (mailer: ReturnType<typeof atMailServer> | null = atMailServer()): Promise<number> => {
  await waitForFollowers(server.store, 'notifications');
  return runJobOnce(
    createNotificationDeliveriesJob({
      database: server.database,
      clock,
      encryptionKeys: server.runtime.encryptionKeys,
      publicUrl: 'https://cadastre.example.com',
      fetch: createDestinationFetch([]),
      mailer,
      random: () => 0.5,
    }),
  );
};

const listDeliveries = async (id: string) => expectStatus(await server.get(`${byId(id)}/deliveries`), 200).body.data;

/** Makes a workspace with a configuration for the people. Resolves to its id, when one notification is due. */
const notify = async (name: string, users: readonly string[]): Promise<string> => {
  const owner = await makeWorkspace(server, 'acme', name);
  const id = await makeMailConfiguration(server, `workspaces/${owner}`, users, { triggers: ['workspace:locked'] });
  expectStatus(await server.post(`/api/v2/workspaces/${owner}/actions/lock`, { reason: 'why' }), 200);
  return id;
};

describe('a notification configuration by e-mail', () => {
  it('is created enabled without a test, and shows users instead of a URL', async () => {
    const body = newMailConfiguration('mails', [bob.id, ada.id], { url: '', token: null, 'email-addresses': [] });
    const { data } = expectStatus(await server.post(ofWorkspace(), body), 201).body;
    expect(data.attributes).toMatchObject({
      'destination-type': 'email',
      enabled: true,
      url: null,
      token: null,
      'email-addresses': [],
      'delivery-responses': [],
    });
    expect(listUsers(data)).toEqual([ada.id, bob.id].toSorted());
    expect(await show(data.id)).toEqual(data);
    expect(expectStatus(await server.get(ofWorkspace()), 200).body.data).toContainEqual(data);
    expect(mail.received).toEqual([]);
  });

  it.each<[string, object, string, string]>([
    [
      'a URL',
      { url: 'https://x.example' },
      '/data/attributes/url',
      'Url is only for destination-type generic, slack, microsoft-teams, not for email',
    ],
    ['a token', { token: 'x' }, '/data/attributes/token', 'Token is only for destination-type generic, not for email'],
    [
      'addresses',
      { 'email-addresses': ['ada@people.test'] },
      '/data/attributes/email-addresses',
      'Email addresses is not supported: e-mails are sent to members of the organization, which relationships.users names',
    ],
  ])('is not created with %s', async (_, attributes, pointer, detail) => {
    const refused = expectStatus(await server.post(ofWorkspace(), newMailConfiguration('bad', [], attributes)), 422);
    expect(listProblems(refused)).toEqual([[pointer, detail]]);
  });

  it('accepts only active members, and answers the same for other and unknown people', async () => {
    await makeOrganization(server, 'other');
    const stranger = await makeMember(server, 'other', 'stranger');
    const invitation = resource('organization-memberships', { email: 'invited@people.test' });
    const invited = expectStatus(
      await server.post('/api/v2/organizations/acme/organization-memberships', invitation),
      201,
    );
    const ids = [stranger.id, 'user-unknown', invited.body.data.relationships.user.data.id as string];
    const id = await makeMailConfiguration(server, `workspaces/${workspace}`, [ada.id]);
    for (const user of ids) {
      const problem = [
        '/data/relationships/users/data/1/id',
        `Users must be active members of the organization, got ${user}`,
      ];
      const body = newMailConfiguration('bad', [ada.id, user]);
      expect(listProblems(expectStatus(await server.post(ofWorkspace(), body), 422))).toEqual([problem]);
      expect(listProblems(expectStatus(await setUsers(id, [ada.id, user]), 422))).toEqual([problem]);
    }
    expect(listUsers(await show(id))).toEqual([ada.id]);
  });

  it('has at most 100 users', async () => {
    const body = newMailConfiguration(
      'bad',
      Array.from({ length: 101 }, () => ada.id),
    );
    const refused = expectStatus(await server.post(ofWorkspace(), body), 422);
    expect(listProblems(refused)).toEqual([['/data/relationships/users', 'Users must be at most 100, got 101']]);
  });

  it('is the only type with users', async () => {
    const generic = newNotificationConfiguration('generic') as { data: object };
    const relationships = { users: { data: [{ type: 'users', id: ada.id }] } };
    const refused = expectStatus(await server.post(ofWorkspace(), { data: { ...generic.data, relationships } }), 422);
    expect(listProblems(refused)).toEqual([
      ['/data/relationships/users', 'Users is only for destination-type email, not for generic'],
    ]);
  });

  it('keeps its users unless a change names others', async () => {
    const id = await makeMailConfiguration(server, `workspaces/${workspace}`, [ada.id]);
    const renamed = resource('notification-configurations', { name: 'renamed', enabled: false });
    expect(listUsers(expectStatus(await server.patch(byId(id), renamed), 200).body.data)).toEqual([ada.id]);
    expect(listUsers(expectStatus(await setUsers(id, [bob.id], { enabled: true }), 200).body.data)).toEqual([bob.id]);
    expect(listUsers(expectStatus(await setUsers(id, []), 200).body.data)).toEqual([]);
    const other = resource('notification-configurations', { 'destination-type': 'slack', url: 'https://x.example' });
    expectStatus(await server.patch(byId(id), other), 422);
    expectStatus(await server.delete(byId(id)), 204);
  });

  it('is recorded with ids, and no table but the accounts has the address', async () => {
    const id = await makeMailConfiguration(server, `workspaces/${workspace}`, [ada.id]);
    const events = await server.store.log.stream(id);
    expect(events.map(({ data }) => data)).toMatchObject([{ destinationType: 'email', host: null, users: [ada.id] }]);
    expectStatus(await server.post(`${byId(id)}/actions/verify`), 200);
    const texts = await server.database.rows<{ text: string }>(sql`
      select e::text as text from event_store.events e
      union all select d::text from notifications.deliveries d
      union all select n::text from views.notification_configurations n`);
    expect(texts.filter(({ text }) => text.includes(ada.email))).toEqual([]);
    const reader = server.as(await makeOrganizationToken(server, 'acme'));
    const trail = expectStatus(await reader.get('/api/v2/organization/audit-trail'), 200).body.data;
    const entry = trail.find(({ resource: subject }: { resource: { id: string } }) => subject.id === id);
    expect(entry.resource.meta).toMatchObject({
      destination_type: 'email',
      user_ids: [ada.id],
      workspace_id: workspace,
    });
    expect(entry.resource.meta).not.toHaveProperty('host');
  });
});

describe('the test of a configuration by e-mail', () => {
  it('is one message to all users, once a minute', async () => {
    const hostile = 'x\r\nBcc: eve@people.test\r\n\r\n<script>alert(1)</script>';
    const id = await makeMailConfiguration(server, `workspaces/${workspace}`, [ada.id, bob.id], { name: hostile });
    const { attributes } = expectStatus(await server.post(`${byId(id)}/actions/verify`), 200).body.data;
    const body = 'The mail server accepted the message for 2 of 2 recipients';
    expect(attributes['delivery-responses']).toMatchObject([{ code: '250', successful: 'true', url: '', body }]);
    const [message] = mail.received;
    if (!message) throw new Error('no message');
    expect(listRecipients()).toEqual([ada.email, bob.email]);
    expect(getMailHeader(message, 'Subject')).toBe('Verification of x Bcc: eve@people.test <script>alert(1)</script>');
    expect(getMailHeader(message, 'Bcc')).toBeUndefined();
    expect(getMailHeader(message, 'List-Id')).toMatch(new RegExp(`^<${id}\\.`));
    expect(message.source).toContain('&lt;script&gt;');
    const again = expectStatus(await server.post(`${byId(id)}/actions/verify`), 429);
    expect(Number(again.headers.get('retry-after'))).toBeLessThanOrEqual(60);
    expect(mail.received).toHaveLength(1);
    clock.pass({ minutes: 1 });
    expectStatus(await server.post(`${byId(id)}/actions/verify`), 200);
    expect(mail.received).toHaveLength(2);
  });

  it('reaches all members of a team that names no users', async () => {
    const team = await makeTeam(server, 'acme', 'core');
    const eve = await makeMember(server, 'acme', 'eve', [team]);
    const id = await makeMailConfiguration(server, `teams/${team}`, []);
    expectStatus(await server.post(`${byId(id)}/actions/verify`), 200);
    expect(listRecipients()).toEqual([eve.email]);
  });

  it('shows what the mail server refused, without addresses', async () => {
    mail.answer({ recipient: (address) => [550, `<${address}> is unknown`] });
    const id = await makeMailConfiguration(server, `workspaces/${workspace}`, [ada.id]);
    const { attributes } = expectStatus(await server.post(`${byId(id)}/actions/verify`), 200).body.data;
    const body = `The mail server accepted the message for 0 of 1 recipients. Refused: ${ada.id} (550 550 <[address]> is unknown)`;
    expect(attributes['delivery-responses']).toMatchObject([{ code: '550', successful: 'false', body }]);
  });

  it('is refused if nobody would get it', async () => {
    const id = await makeMailConfiguration(server, `workspaces/${workspace}`, []);
    const refused = expectStatus(await server.post(`${byId(id)}/actions/verify`), 422);
    expect(refused.text).toContain('Nobody could get the notification');
  });
});

describe('a notification by e-mail', () => {
  it('says what happened, and has a link to the run', async () => {
    const id = await makeMailConfiguration(server, `workspaces/${workspace}`, [ada.id], { triggers: ['run:created'] });
    const message = 'Add queues\r\nShow run: https://evil.example\u202Eand <b>more</b>';
    await makeConfigurationVersion(server, workspace);
    const run = await makeRun(server, workspace, { message, 'plan-only': true });
    expect(await deliver()).toBe(1);
    const [sent] = mail.received;
    if (!sent) throw new Error('no message');
    expect(getMailHeader(sent, 'Subject')).toBe('[acme/app] Run Created');
    expect(getMailHeader(sent, 'Auto-Submitted')).toBe('auto-generated');
    expect(getMailHeader(sent, 'List-Id')).toBe(`<${id}.cadastre.example.com>`);
    const [delivery] = await listDeliveries(id);
    expect(getMailHeader(sent, 'Message-ID')).toBe(`<${delivery.id}@cadastre.example.com>`);
    expect(delivery.attributes).toMatchObject({ status: 'delivered', attempts: 1, response: { code: '250' } });
    const text = sent.source.replaceAll('=\r\n', '');
    expect(text).toContain('Message: Add queues Show run: https://evil.example and <b>more</b>\r\n');
    expect(text).toContain('&lt;b&gt;more&lt;/b&gt;');
    expect(text).toContain(`/app/acme/workspaces/app/runs/${run}`);
  });

  it('goes to the addresses of the present, and not to people who have left or are suspended', async () => {
    const [left, idle] = [await makeMember(server, 'acme', 'left'), await makeMember(server, 'acme', 'idle')];
    const account = expectStatus(await server.get('/api/v2/account/details'), 200).body.data.id as string;
    const id = await notify('present', [account, left.id, idle.id, ada.id]);
    await waitForFollowers(server.store, 'notifications');
    expectStatus(await server.patch('/api/v2/account/update', resource('users', { email: 'new@people.test' })), 200);
    expectStatus(await server.delete(`/api/v2/organization-memberships/${left.membership}`), 204);
    expectStatus(await server.post(`/api/v2/admin/users/${idle.id}/actions/suspend`), 200);
    expect(await deliver()).toBe(1);
    expect(listRecipients()).toEqual([ada.email, 'new@people.test']);
    expect(listUsers(await show(id))).toEqual([account, idle.id, ada.id].toSorted());
  });

  it('ends without a message when the last recipient has left', async () => {
    const last = await makeMember(server, 'acme', 'last');
    const id = await notify('last-recipient', [last.id]);
    await waitForFollowers(server.store, 'notifications');
    expectStatus(await server.delete(`/api/v2/organization-memberships/${last.membership}`), 204);
    expect(await deliver()).toBe(1);
    expect(mail.received).toEqual([]);
    const response = { code: '', body: expect.stringContaining('Nobody could get the notification') };
    expect((await listDeliveries(id))[0].attributes).toMatchObject({ status: 'failed', attempts: 1, response });
    expect(listUsers(await show(id))).toEqual([]);
  });

  it('is repeated only for recipients that were refused for now, with the same id', async () => {
    mail.answer({ recipient: (address) => (address === bob.email ? [451, 'try later'] : null) });
    const id = await notify('greylisted', [ada.id, bob.id]);
    expect(await deliver()).toBe(1);
    const response = { code: '451', successful: 'false', body: expect.stringContaining(`${bob.id} (451`) };
    expect((await listDeliveries(id))[0].attributes).toMatchObject({ status: 'pending', response });
    mail.answer({ recipient: () => null });
    clock.pass({ minutes: 1 });
    expect(await deliver()).toBe(1);
    expect(mail.received.map(({ to }) => to)).toEqual([[ada.email], [bob.email]]);
    expect(new Set(mail.received.map((message) => getMailHeader(message, 'Message-ID'))).size).toBe(1);
    expect((await listDeliveries(id))[0].attributes).toMatchObject({ status: 'delivered', attempts: 2 });
  });

  it('is delivered if one recipient is refused for good, and ends if all are', async () => {
    mail.answer({ recipient: (address) => (address === bob.email ? [550, 'unknown'] : null) });
    const [some, none] = [await notify('some-refused', [ada.id, bob.id]), await notify('all-refused', [bob.id])];
    expect(await deliver()).toBe(2);
    expect((await listDeliveries(some))[0].attributes).toMatchObject({ status: 'delivered', attempts: 1 });
    expect((await listDeliveries(none))[0].attributes).toMatchObject({ status: 'failed', response: { code: '550' } });
    clock.pass({ days: 2 });
    expect(await deliver()).toBe(0);
  });

  it('is not repeated after a permanent refusal of the message', async () => {
    mail.answer({ message: () => [554, 'spam'] });
    const id = await notify('spam', [ada.id]);
    expect(await deliver()).toBe(1);
    const response = { code: '554', body: expect.stringContaining('spam') };
    expect((await listDeliveries(id))[0].attributes).toMatchObject({ status: 'failed', attempts: 1, response });
  });

  it('is repeated with the same id after a lost acknowledgement', async () => {
    mail.answer({ message: () => 'silent' });
    const id = await notify('lost', [ada.id]);
    expect(await deliver(atMailServer({ timeoutMs: 300 }))).toBe(1);
    const response = { code: '', body: 'The mail server did not answer in time' };
    expect((await listDeliveries(id))[0].attributes).toMatchObject({ status: 'pending', response });
    mail.answer({ message: () => null });
    clock.pass({ minutes: 1 });
    expect(await deliver()).toBe(1);
    const [first, second] = mail.received.map((message) => getMailHeader(message, 'Message-ID'));
    expect(second).toBe(first);
  });

  it('waits while the mail server is away or not configured', async () => {
    const id = await notify('away', [ada.id]);
    expect(await deliver(atMailServer({ port: 1 }))).toBe(1);
    const away = { code: '', body: 'The mail server could not be reached' };
    expect((await listDeliveries(id))[0].attributes).toMatchObject({ status: 'pending', response: away });
    clock.pass({ minutes: 1 });
    expect(await deliver(null)).toBe(1);
    const missing = { body: 'The server has no mail server: CADASTRE_SMTP_URL is not set' };
    expect((await listDeliveries(id))[0].attributes).toMatchObject({ status: 'pending', response: missing });
    clock.pass({ minutes: 5 });
    expect(await deliver()).toBe(1);
    expect(listRecipients()).toEqual([ada.email]);
  });

  it('is not sent after its configuration was disabled', async () => {
    const id = await notify('disabled', [ada.id]);
    await waitForFollowers(server.store, 'notifications');
    const disabled = resource('notification-configurations', { enabled: false });
    expectStatus(await server.patch(byId(id), disabled), 200);
    expect(await deliver()).toBe(1);
    expect(mail.received).toEqual([]);
    expect((await listDeliveries(id))[0].attributes.status).toBe('failed');
  });
});

describe('the view of configurations by e-mail', () => {
  it('matches the log', async () => {
    await expectViewsMatchLog(server, [notificationsDefinition]);
  });
});
