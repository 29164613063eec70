import { createHmac } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import {
  makeNotificationConfiguration,
  newNotificationConfiguration,
  REACHES_RECEIVERS,
  startReceiver,
  type NotificationReceiver,
} from '../../../../test/support/notification-receiver.js';
import { listNames, listProblems } from '../../../../test/support/responses.js';
import {
  expectStatus,
  makeMember,
  makeOrganization,
  makeOrganizationToken,
  makeTeam,
  makeWorkspace,
  resource,
} from '../../../../test/support/seeds.js';
import { startTestServer, type ApiTestClient, type TestServer } from '../../../../test/support/server.js';
import { expectViewsMatchLog } from '../../../../test/support/views-match-log.js';
import { notificationsDefinition } from '../index.js';

const TOKEN = 'key-of-the-signature-b3BlbnNza';
const SECRET_PATH = 'T000-B000-c2VjcmV0LXBhdGg';

let server: TestServer;
let receiver: NotificationReceiver;
let workspace: string;
let team: string;

beforeAll(async () => {
  receiver = await startReceiver();
  server = await startTestServer({ followers: true, env: REACHES_RECEIVERS });
  await makeOrganization(server, 'acme');
  workspace = await makeWorkspace(server, 'acme', 'app');
  team = await makeTeam(server, 'acme', 'core', { visibility: 'organization' });
});
afterEach(() => receiver.reset());
afterAll(async () => {
  await server.close();
  await receiver.close();
});

const byId = (id: string): string => `/api/v2/notification-configurations/${id}`;
const inWorkspace = (id = workspace): string => `/api/v2/workspaces/${id}/notification-configurations`;
const change = (id: string, attributes: object) =>
  server.patch(byId(id), resource('notification-configurations', attributes));

describe('a notification configuration', () => {
  it('is created disabled by default, the same by id and in the list, and sends nothing', async () => {
    const url = `${receiver.url}/${SECRET_PATH}`;
    const body = newNotificationConfiguration('plain', { url, token: TOKEN, triggers: ['run:errored', 'run:created'] });
    const created = expectStatus(await server.post(inWorkspace(), body), 201).body;
    expect(created.data).toEqual({
      id: expect.stringMatching(/^nc-\w{16}$/),
      type: 'notification-configurations',
      attributes: {
        name: 'plain',
        'destination-type': 'generic',
        enabled: false,
        url,
        token: null,
        'email-addresses': [],
        triggers: ['run:created', 'run:errored'],
        'delivery-responses': [],
        'created-at': expect.stringMatching(/Z$/),
        'updated-at': created.data.attributes['created-at'],
      },
      relationships: {
        subscribable: {
          data: { type: 'workspaces', id: workspace },
          links: { related: `/api/v2/workspaces/${workspace}` },
        },
        users: { data: [] },
      },
      links: { self: byId(created.data.id) },
    });
    expect((await server.get(byId(created.data.id))).body).toEqual(created);
    expect((await server.get(inWorkspace())).body.data).toEqual([created.data]);
    expect(receiver.received).toEqual([]);
  });

  it.each([
    ['teams', () => ({ type: 'teams', id: team }), () => `teams/${team}`],
    ['organizations', () => ({ type: 'organizations', id: 'acme' }), () => 'organizations/acme'],
  ])('of %s names its owner', async (_, identifier, owner) => {
    const id = await makeNotificationConfiguration(server, owner(), 'owned');
    const { body } = expectStatus(await server.get(byId(id)), 200);
    expect(body.data.relationships.subscribable.data).toEqual(identifier());
    const list = expectStatus(await server.get(`/api/v2/${owner()}/notification-configurations`), 200);
    expect(list.body.data).toEqual([body.data]);
  });

  it('is read by clients that send the singular type of the vendor’s documentation, and the owner', async () => {
    const body = resource(
      'notification-configuration',
      {
        name: 'singular',
        'destination-type': 'slack',
        url: 'https://hooks.slack.com/services/x',
        'email-addresses': [],
      },
      { subscribable: { data: { type: 'workspaces', id: workspace } }, users: { data: [] } },
    );
    expectStatus(await server.post(inWorkspace(), body), 201);
  });

  it.each([
    [{ name: '' }, '/data/attributes/name', "Name can't be blank"],
    [{ url: '' }, '/data/attributes/url', "Url can't be blank"],
    [{ url: 'ftp://x.example' }, '/data/attributes/url', 'Url must be an address that begins with https:// or http://'],
    [
      { url: `https://x.example/${'x'.repeat(2_048)}` },
      '/data/attributes/url',
      'Url: too long, at most 2048 characters',
    ],
    [
      { 'destination-type': 'carrier-pigeon' },
      '/data/attributes/destination-type',
      'Destination type must be one of generic, slack, microsoft-teams, email',
    ],
    [
      { 'destination-type': 'email', url: null },
      '/data/attributes/destination-type',
      'Destination type email needs a mail server: the operator sets CADASTRE_SMTP_URL and CADASTRE_SMTP_FROM',
    ],
    [
      { 'email-addresses': ['a@b.example'] },
      '/data/attributes/email-addresses',
      'Email addresses is not supported: e-mails are sent to members of the organization, which relationships.users names',
    ],
    [{ token: 'x'.repeat(1_025) }, '/data/attributes/token', 'Token: too long, at most 1024 characters'],
    [
      { 'destination-type': 'slack', token: 'x' },
      '/data/attributes/token',
      'Token is only for destination-type generic, not for slack',
    ],
  ])('is not created with %j', async (attributes, pointer, detail) => {
    const body = newNotificationConfiguration('bad', attributes);
    expect(listProblems(expectStatus(await server.post(inWorkspace(), body), 422))).toEqual([[pointer, detail]]);
  });

  it('names the accepted triggers if one is unknown, or not for the owner', async () => {
    const unknown = newNotificationConfiguration('bad', { triggers: ['run:finished'] });
    expect(expectStatus(await server.post(inWorkspace(), unknown), 422).text).toContain('run:completed');
    const other = newNotificationConfiguration('bad', { triggers: ['run:created'] });
    const refused = await server.post(`/api/v2/teams/${team}/notification-configurations`, other);
    expect(listProblems(expectStatus(refused, 422))).toEqual([
      ['/data/attributes/triggers', 'Triggers of a team must be some of change_request:created, got run:created'],
    ]);
  });

  it('keeps what a change does not name, and no destination type replaces another', async () => {
    const id = await makeNotificationConfiguration(server, `workspaces/${workspace}`, 'before', {
      triggers: ['run:errored'],
    });
    const changed = expectStatus(await change(id, { name: 'after' }), 200).body;
    expect(changed.data.attributes).toMatchObject({ name: 'after', triggers: ['run:errored'], enabled: false });
    expect((await server.get(byId(id))).body).toEqual(changed);
    expectStatus(await change(id, { 'destination-type': 'generic' }), 200);
    expect(listProblems(expectStatus(await change(id, { 'destination-type': 'slack' }), 422))).toEqual([
      [
        '/data/attributes/destination-type',
        'Destination type cannot change from generic to slack. Create another configuration',
      ],
    ]);
  });

  it('can be deleted once, with its secrets and deliveries', async () => {
    const id = await makeNotificationConfiguration(server, `workspaces/${workspace}`, 'doomed', {
      url: receiver.url,
      enabled: true,
    });
    expectStatus(await server.delete(byId(id)), 204);
    expectStatus(await server.get(byId(id)), 404);
    expectStatus(await server.delete(byId(id)), 404);
    expect(await countStored(id)).toEqual({ secrets: 0, deliveries: 0 });
  });

  it('is deleted with its workspace, its team and its organization', async () => {
    await makeOrganization(server, 'ended');
    const ended = await makeWorkspace(server, 'ended', 'ended');
    const endedTeam = await makeTeam(server, 'ended', 'ended');
    const enabled = { url: receiver.url, enabled: true };
    const ids = [
      await makeNotificationConfiguration(server, `workspaces/${ended}`, 'one', enabled),
      await makeNotificationConfiguration(server, `teams/${endedTeam}`, 'two', enabled),
      await makeNotificationConfiguration(server, 'organizations/ended', 'three', enabled),
    ];
    expectStatus(await server.delete(`/api/v2/workspaces/${ended}`), 204);
    expectStatus(await server.delete(`/api/v2/teams/${endedTeam}`), 204);
    expectStatus(await server.delete('/api/v2/organizations/ended'), 204);
    for (const id of ids) {
      expectStatus(await server.get(byId(id)), 404);
      expect(await countStored(id)).toEqual({ secrets: 0, deliveries: 0 });
    }
  });

  it('is one of at most 20 of its owner, also if requests race', async () => {
    const busy = await makeWorkspace(server, 'acme', 'busy');
    const names = Array.from({ length: 24 }, (_, n) => `n-${n}`);
    const answers = await Promise.all(
      names.map((name) => server.post(inWorkspace(busy), newNotificationConfiguration(name))),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(20);
    const refused = answers.filter(({ status }) => status === 422);
    expect(refused).toHaveLength(4);
    expect(refused[0]?.text).toContain('at most 20 notification configurations');
  });
});

const countStored = async (id: string): Promise<{ secrets: number; deliveries: number }> => {
  const rows = await Promise.all(
    [
      sql`select 1 from vault.secrets where id = ${id}`,
      sql`select 1 from notifications.deliveries where configuration = ${id}`,
    ].map((statement) => server.database.rows(statement)),
  );
  return { secrets: rows[0]?.length ?? -1, deliveries: rows[1]?.length ?? -1 };
};

describe('the test of a destination', () => {
  it('is a signed request before the creation of an enabled configuration', async () => {
    const id = await makeNotificationConfiguration(server, `workspaces/${workspace}`, 'tested', {
      url: receiver.url,
      token: TOKEN,
      enabled: true,
    });
    const [request, ...others] = receiver.received;
    expect(others).toEqual([]);
    expect(request?.headers['x-tfe-notification-signature']).toBe(
      createHmac('sha512', TOKEN)
        .update(request?.body ?? '')
        .digest('hex'),
    );
    expect(request?.headers).toMatchObject({
      'content-type': 'application/json',
      'x-cadastre-delivery': expect.stringMatching(/^nd-\w+$/),
    });
    expect(JSON.parse(request?.body ?? '')).toEqual({
      payload_version: 1,
      notification_configuration_id: id,
      run_url: null,
      run_id: null,
      run_message: null,
      run_created_at: null,
      run_created_by: null,
      workspace_id: null,
      workspace_name: null,
      organization_name: null,
      notifications: [
        {
          message: 'Verification of tested',
          trigger: 'verification',
          run_status: null,
          run_updated_at: null,
          run_updated_by: null,
        },
      ],
    });
    const { attributes } = expectStatus(await server.get(byId(id)), 200).body.data;
    expect(attributes['delivery-responses']).toEqual([
      {
        url: receiver.url,
        body: 'ok',
        code: '200',
        headers: expect.objectContaining({ 'content-type': ['text/plain'] }),
        'sent-at': expect.stringMatching(/Z$/),
        successful: 'true',
      },
    ]);
    expect(attributes['delivery-responses'][0].headers).not.toHaveProperty('set-cookie');
  });

  it('has an empty signature without a token, and none for Slack', async () => {
    for (const type of ['generic', 'slack', 'microsoft-teams']) {
      await makeNotificationConfiguration(server, `workspaces/${workspace}`, type, {
        'destination-type': type,
        url: receiver.url,
        enabled: true,
      });
    }
    expect(receiver.received.map(({ headers }) => headers['x-tfe-notification-signature'])).toEqual([
      '',
      undefined,
      undefined,
    ]);
  });

  it('refuses the creation with what the destination answered, and stores nothing', async () => {
    const before = (await server.get(inWorkspace())).body.meta.pagination['total-count'];
    receiver.answer((response) => response.writeHead(403).end('not for you'));
    const body = newNotificationConfiguration('refused', { url: receiver.url, enabled: true, token: TOKEN });
    const refused = expectStatus(await server.post(inWorkspace(), body), 422);
    expect(listProblems(refused)).toEqual([
      [
        '/data/attributes/url',
        'Url could not be verified: the destination answered with status 403: "not for you". A disabled configuration is saved without a test',
      ],
    ]);
    expect(refused.text).not.toContain(TOKEN);
    expect((await server.get(inWorkspace())).body.meta.pagination['total-count']).toBe(before);
  });

  it.each([
    ['a private address', 'http://10.1.2.3/x', '10.1.2.3 has a private address'],
    ['a port without a server', 'http://127.0.0.1:1/x', '127.0.0.1 could not be reached'],
  ])('fails for %s', async (_, url, detail) => {
    const body = newNotificationConfiguration('unreachable', { url, enabled: true });
    expect(expectStatus(await server.post(inWorkspace(), body), 422).text).toContain(detail);
  });

  it('fails for a redirect, which it does not follow', async () => {
    receiver.answer((response) => response.writeHead(302, { location: 'http://10.0.0.1/' }).end());
    const body = newNotificationConfiguration('redirected', { url: receiver.url, enabled: true });
    const refused = expectStatus(await server.post(inWorkspace(), body), 422);
    expect(refused.text).toContain('redirected the request');
    expect(receiver.received).toHaveLength(1);
  });

  it('precedes each change of an enabled configuration, and a failure changes nothing', async () => {
    const id = await makeNotificationConfiguration(server, `workspaces/${workspace}`, 'switched', {
      url: receiver.url,
    });
    receiver.answer((response) => response.writeHead(500).end());
    expectStatus(await change(id, { name: 'still off' }), 200);
    expectStatus(await change(id, { enabled: true }), 422);
    expect((await server.get(byId(id))).body.data.attributes).toMatchObject({
      enabled: false,
      'delivery-responses': [],
    });
    receiver.reset();
    expect(expectStatus(await change(id, { enabled: true }), 200).body.data.attributes.enabled).toBe(true);
    expect(receiver.received).toHaveLength(1);
    expectStatus(await change(id, { enabled: true }), 200);
    expect(receiver.received).toHaveLength(1);
    expectStatus(await change(id, { enabled: false }), 200);
    expect(receiver.received).toHaveLength(1);
  });

  it('can be repeated, and shows the response of the destination whatever its status', async () => {
    const id = await makeNotificationConfiguration(server, `workspaces/${workspace}`, 'verified', {
      url: receiver.url,
    });
    receiver.answer((response) => response.writeHead(418).end('x'.repeat(5_000)));
    const { attributes } = expectStatus(await server.post(`${byId(id)}/actions/verify`), 200).body.data;
    expect(attributes['delivery-responses']).toMatchObject([
      { code: '418', successful: 'false', body: 'x'.repeat(1_000) },
    ]);
    receiver.reset();
    const again = expectStatus(await server.post(`${byId(id)}/actions/verify`), 200).body.data.attributes;
    expect(again['delivery-responses']).toMatchObject([{ code: '200', successful: 'true' }]);
  });

  it('is refused if the destination does not answer, and the document shows why', async () => {
    const id = await makeNotificationConfiguration(server, `workspaces/${workspace}`, 'silent', {
      url: 'http://127.0.0.1:1/x',
    });
    expectStatus(await server.post(`${byId(id)}/actions/verify`), 422);
    const { attributes } = expectStatus(await server.get(byId(id)), 200).body.data;
    expect(attributes['delivery-responses']).toMatchObject([
      { code: '', successful: 'false', body: '127.0.0.1 could not be reached' },
    ]);
  });

  it('is signed with a token that replaced another one, and unsigned after its removal', async () => {
    const id = await makeNotificationConfiguration(server, `workspaces/${workspace}`, 'rotated', {
      url: receiver.url,
      token: 'first',
    });
    const sign = async (): Promise<unknown> => {
      receiver.reset();
      expectStatus(await server.post(`${byId(id)}/actions/verify`), 200);
      const [request] = receiver.received;
      const signature = request?.headers['x-tfe-notification-signature'];
      const keys = ['first', 'second'];
      return (
        keys.find(
          (key) =>
            createHmac('sha512', key)
              .update(request?.body ?? '')
              .digest('hex') === signature,
        ) ?? signature
      );
    };
    expect(await sign()).toBe('first');
    expectStatus(await change(id, { name: 'renamed' }), 200);
    expect(await sign()).toBe('first');
    expectStatus(await change(id, { token: 'second' }), 200);
    expect(await sign()).toBe('second');
    expectStatus(await change(id, { token: null }), 200);
    expect(await sign()).toBe('');
  });
});

describe('the list of notification configurations', () => {
  it('is sorted by name and paged', async () => {
    const listed = await makeWorkspace(server, 'acme', 'listed');
    for (const name of ['c', 'a', 'b']) await makeNotificationConfiguration(server, `workspaces/${listed}`, name);
    const first = expectStatus(await server.get(`${inWorkspace(listed)}?page[size]=2`), 200);
    expect(listNames(first)).toEqual(['a', 'b']);
    expect(first.body.meta.pagination).toMatchObject({ 'total-count': 3, 'next-page': 2 });
    expect(listNames(expectStatus(await server.get(first.body.links.next as string), 200))).toEqual(['c']);
    const none = await makeWorkspace(server, 'acme', 'none');
    expect(expectStatus(await server.get(inWorkspace(none)), 200).body.data).toEqual([]);
  });
});

describe('permissions on notification configurations', () => {
  it('are those to change the settings of the owner, and without them nothing shows', async () => {
    const makePerson = async (name: string, access: object): Promise<ApiTestClient> =>
      makeMember(server, 'acme', name, [await makeTeam(server, 'acme', name, { 'organization-access': access })]);
    const worker = await makePerson('worker', { 'manage-workspaces': true });
    const reader = await makePerson('reader', { 'read-workspaces': true });
    const lead = await makePerson('lead', { 'manage-teams': true });
    const owners = { workspace: `workspaces/${workspace}`, team: `teams/${team}`, organization: 'organizations/acme' };
    const statuses = async (api: ApiTestClient, owner: string): Promise<readonly number[]> => {
      const id = await makeNotificationConfiguration(server, owner, 'guarded');
      const path = `/api/v2/${owner}/notification-configurations`;
      const answers = [
        await api.get(path),
        await api.get(byId(id)),
        await api.get(`${byId(id)}/deliveries`),
        await api.patch(byId(id), resource('notification-configurations', { name: 'guarded' })),
        await api.delete(byId(id)),
      ];
      return answers.map(({ status }) => status);
    };
    const yes = [200, 200, 200, 200, 204];
    const no = [404, 404, 404, 404, 404];
    expect(await statuses(worker, owners.workspace)).toEqual(yes);
    expect(await statuses(reader, owners.workspace)).toEqual(no);
    expect(await statuses(lead, owners.team)).toEqual(yes);
    expect(await statuses(worker, owners.team)).toEqual(no);
    expect(await statuses(lead, owners.organization)).toEqual(no);
    expect(await statuses(server.as(await makeOrganizationToken(server, 'acme')), owners.organization)).toEqual(no);
  });
});

const readDatabase = async (): Promise<string> => {
  const tables = await server.database.rows<{ name: string }>(sql`
    select format('%I.%I', table_schema, table_name) as name from information_schema.tables
     where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`);
  const texts = await Promise.all(
    tables.map(({ name }) => server.database.rows<{ text: string }>(sql.raw(`select t::text as text from ${name} t`))),
  );
  return texts
    .flat()
    .map(({ text }) => text)
    .join('\n');
};

describe('the secrets of a notification configuration', () => {
  it('are in no table, even if the destination repeats the request', async () => {
    receiver.answer((response, request) => response.end(`${request.url} ${JSON.stringify(request.headers)} ${TOKEN}`));
    const id = await makeNotificationConfiguration(server, `workspaces/${workspace}`, 'secret', {
      url: `${receiver.url}/${SECRET_PATH}`,
      token: TOKEN,
      enabled: true,
    });
    const text = await readDatabase();
    expect(text).toContain(id);
    for (const secret of [TOKEN, SECRET_PATH]) {
      expect(text).not.toContain(secret);
      expect(text).not.toContain(Buffer.from(secret).toString('hex'));
    }
    expect(expectStatus(await server.get(byId(id)), 200).body.data.attributes.token).toBeNull();
  });
});

describe('the audit trail of notification configurations', () => {
  it('records creation, changes and deletion without secrets', async () => {
    await makeOrganization(server, 'audited');
    const id = await makeNotificationConfiguration(server, 'organizations/audited', 'deploys', {
      url: `${receiver.url}/${SECRET_PATH}`,
      token: TOKEN,
    });
    expectStatus(await change(id, { name: 'retold', token: 'next', enabled: true }), 200);
    expectStatus(await change(id, { enabled: false }), 200);
    expectStatus(await server.delete(byId(id)), 204);
    const reader = server.as(await makeOrganizationToken(server, 'audited'));
    const { body, text } = expectStatus(await reader.get('/api/v2/organization/audit-trail'), 200);
    const entries = body.data
      .map(({ resource: entry }: { resource: object }) => entry)
      .filter((entry: { type: string }) => entry.type === 'notification_configuration');
    const organization_id = body.data[0].auth.organization_id as string;
    expect(entries.map(({ action, meta }: { action: string; meta: object }) => [action, meta])).toEqual([
      ['destroy', { name: 'retold', organization_id }],
      ['update', { attributes: ['enabled'] }],
      ['enable', null],
      ['update', { attributes: ['name', 'token'] }],
      ['create', { name: 'deploys', destination_type: 'generic', host: '127.0.0.1', enabled: false, organization_id }],
    ]);
    for (const secret of [TOKEN, SECRET_PATH]) expect(text).not.toContain(secret);
  });
});

describe('the view of notification configurations', () => {
  it('matches the log', async () => {
    await expectViewsMatchLog(server, [notificationsDefinition]);
  });
});
