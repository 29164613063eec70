import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { Vault } from '#storage/vault';
import {
  expectStatus,
  makeMember,
  makeOrganization,
  makeOrganizationToken,
  makeTeam,
  resource,
} from '../../../test/support/seeds.js';
import { runBetween } from '../../../test/support/interleaving.js';
import { listNames, listProblems } from '../../../test/support/responses.js';
import {
  startTestServer,
  type ApiResponse,
  type ApiTestClient,
  type TestServer,
} from '../../../test/support/server.js';
import { expectViewsMatchLog } from '../../../test/support/views-match-log.js';
import { sshKeysDefinition } from './index.js';

const PATH = '/api/v2/organizations/acme/ssh-keys';
const KEY_TEXT = 'b3BlbnNzaC1rZXktdjEAc2VjcmV0';
const PRIVATE = `-----BEGIN OPENSSH PRIVATE KEY-----\n${KEY_TEXT}\n-----END OPENSSH PRIVATE KEY-----\n`;

let server: TestServer;
let vault: Vault;

beforeAll(async () => {
  server = await startTestServer({ followers: true });
  vault = new Vault(server.database, server.runtime.encryptionKeys);
  await makeOrganization(server, 'acme');
  await makeOrganization(server, 'neighbour');
});

afterAll(() => server.close());

const key = (attributes: object) => resource('ssh-keys', attributes);
const byId = (id: string): string => `/api/v2/ssh-keys/${id}`;
const make = async (name: string, organization = 'acme'): Promise<string> => {
  const body = key({ name, value: PRIVATE });
  return expectStatus(await server.post(`/api/v2/organizations/${organization}/ssh-keys`, body), 201).body.data
    .id as string;
};

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

describe('an SSH key', () => {
  it('is created with only its name in documents, the same by id and in the list', async () => {
    // terraform-provider-tfe sends no type.
    const created = await server.post(PATH, { data: { attributes: { name: 'deploy', value: PRIVATE } } });
    const { body } = expectStatus(created, 201);
    expect(body.data).toEqual({
      id: expect.stringMatching(/^sshkey-\w{16}$/),
      type: 'ssh-keys',
      attributes: { name: 'deploy' },
      links: { self: byId(body.data.id) },
    });
    expect((await server.get(byId(body.data.id))).body).toEqual(body);
    expect((await server.get(PATH)).body.data).toEqual([body.data]);
    expect(await vault.open(body.data.id as string)).toBe(PRIVATE);
  });

  it('gets another name and keeps its private key', async () => {
    const id = await make('before');
    const changed = expectStatus(await server.patch(byId(id), { data: { attributes: { name: 'after' } } }), 200).body;
    expect(changed.data.attributes).toEqual({ name: 'after' });
    expect(expectStatus(await server.patch(byId(id), { data: { type: 'ssh-keys' } }), 200).body).toEqual(changed);
    expect((await server.get(byId(id))).body).toEqual(changed);
    expect(await vault.open(id)).toBe(PRIVATE);
  });

  it('gets another private key, which replaces the previous one', async () => {
    const id = await make('rotated');
    const next = PRIVATE.replace(KEY_TEXT, 'b3BlbnNzaC1rZXktbmV4dA');
    expectStatus(await server.patch(byId(id), key({ value: next })), 200);
    expect(await vault.open(id)).toBe(next);
    expectStatus(await server.patch(byId(id), key({ value: 'ssh-rsa AAAAB3 ada' })), 422);
    expect(await vault.open(id)).toBe(next);
  });

  it.each([
    [{ value: PRIVATE }, '/data/attributes/name', "Name can't be blank"],
    [{ name: '', value: PRIVATE }, '/data/attributes/name', "Name can't be blank"],
    [{ name: 'x' }, '/data/attributes/value', "Value can't be blank"],
    [{ name: 'x', value: '' }, '/data/attributes/value', "Value can't be blank"],
    [{ name: 'x', value: 7 }, '/data/attributes/value', 'Value must be a string'],
    [
      { name: 'x', value: 'ssh-rsa AAAAB3 ada' },
      '/data/attributes/value',
      'Value is a public key; it must be the private one',
    ],
  ])('is not created with %j', async (attributes, pointer, detail) => {
    expect(listProblems(expectStatus(await server.post(PATH, key(attributes)), 422))).toEqual([[pointer, detail]]);
  });

  it('is not created with another type or with a text that is too long', async () => {
    const bodies = [
      resource('gpg-keys', { name: 'x', value: PRIVATE }),
      key({ name: 'x', value: PRIVATE.padEnd(65_537, 'A') }),
    ];
    for (const body of bodies) expect((await server.post(PATH, body)).status).toBe(422);
  });

  it('is deleted together with its private key', async () => {
    const id = await make('doomed');
    expectStatus(await server.delete(byId(id)), 204);
    expectStatus(await server.get(byId(id)), 404);
    expectStatus(await server.patch(byId(id), key({ name: 'again' })), 404);
    expectStatus(await server.delete(byId(id)), 404);
    expect(await vault.open(id)).toBeUndefined();
  });

  it('leaves no private key in the vault if it is deleted and changed at the same time', async () => {
    for (let round = 0; round < 10; round += 1) {
      const id = await make(`raced-${round}`);
      const [, deleted] = await Promise.all([server.patch(byId(id), key({ value: PRIVATE })), server.delete(byId(id))]);
      expectStatus(deleted, 204);
      expect(await vault.open(id)).toBeUndefined();
    }
  });

  it('is deleted with its organization', async () => {
    await makeOrganization(server, 'ended');
    const id = await make('last', 'ended');
    expectStatus(await server.delete('/api/v2/organizations/ended'), 204);
    expectStatus(await server.get(byId(id)), 404);
    expect(await vault.open(id)).toBeUndefined();
  });

  it('leaves no private key in the vault if its organization is deleted while it is changed', async () => {
    await makeOrganization(server, 'ending');
    const id = await make('last', 'ending');
    runBetween(server.store, () => server.delete('/api/v2/organizations/ending'));
    expectStatus(await server.patch(byId(id), key({ value: PRIVATE })), 404);
    expect(await vault.open(id)).toBeUndefined();
  });
});

describe('the list of SSH keys', () => {
  it('is sorted by name and paged', async () => {
    await makeOrganization(server, 'listed');
    for (const name of ['c', 'a', 'b', 'a']) await make(name, 'listed');
    const { body } = expectStatus(await server.get('/api/v2/organizations/listed/ssh-keys?page[size]=3'), 200);
    expect(listNames({ body } as ApiResponse)).toEqual(['a', 'a', 'b']);
    expect(body.meta.pagination).toMatchObject({ 'total-count': 4, 'total-pages': 2, 'next-page': 2 });
    expect(listNames(expectStatus(await server.get(body.links.next as string), 200))).toEqual(['c']);
    const past = await server.get('/api/v2/organizations/listed/ssh-keys?page[number]=9');
    expect(past.body).toMatchObject({ data: [], meta: { pagination: { 'total-count': 4 } } });
  });
});

describe('permissions on SSH keys', () => {
  it('allow changes with the access to VCS settings, and reads with the access to all workspaces, but nothing to other members', async () => {
    const id = await make('shared');
    const makePerson = async (name: string, access: object) =>
      makeMember(server, 'acme', name, [await makeTeam(server, 'acme', name, { 'organization-access': access })]);
    const keeper = await makePerson('keeper', { 'manage-vcs-settings': true });
    const user = await makePerson('worker', { 'manage-workspaces': true });
    const member = await makePerson('member', {});
    const statuses = async (api: ApiTestClient): Promise<number[]> => [
      (await api.get(PATH)).status,
      (await api.get(byId(id))).status,
      (await api.patch(byId(id), key({ name: 'shared' }))).status,
      (await api.post(PATH, key({ name: 'another', value: PRIVATE }))).status,
    ];
    expect(await statuses(keeper)).toEqual([200, 200, 200, 201]);
    expect(await statuses(user)).toEqual([200, 200, 404, 404]);
    expect(await statuses(member)).toEqual([404, 404, 404, 404]);
    expectStatus(await user.delete(byId(id)), 404);
    expectStatus(await keeper.delete(byId(id)), 204);
  });

  it('allow nothing to organization tokens and to other organizations', async () => {
    const id = await make('guarded');
    const audit = await server.post('/api/v2/organizations/acme/authentication-token?token=audit-trails');
    const secrets = [
      await makeOrganizationToken(server, 'acme'),
      await makeOrganizationToken(server, 'neighbour'),
      expectStatus(audit, 201).body.data.attributes.token as string,
    ];
    for (const other of secrets.map((secret) => server.as(secret))) {
      const answers = [
        await other.get(PATH),
        await other.post(PATH, key({ name: 'mine', value: PRIVATE })),
        // The response does not reveal that the key is invalid either.
        await other.post(PATH, key({ name: 'mine', value: 'ssh-rsa AAAAB3 ada' })),
        await other.get(byId(id)),
        await other.patch(byId(id), key({ name: 'mine' })),
        await other.delete(byId(id)),
      ];
      expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404, 404]);
    }
    expectStatus(await server.as(null).get(byId(id)), 401);
    expectStatus(await server.get('/api/v2/organizations/nowhere/ssh-keys'), 404);
  });
});

describe('the text of an SSH key', () => {
  it('is in no table, neither in the log nor in a view, and in no response', async () => {
    const id = await make('secret');
    const text = await readDatabase();
    expect(text).toContain(id);
    expect(text).not.toContain(KEY_TEXT);
    expect(text).not.toContain(Buffer.from(KEY_TEXT).toString('hex'));
    const refused = await server.post(PATH, key({ name: '', value: PRIVATE }));
    expect(expectStatus(refused, 422).text).not.toContain(KEY_TEXT);
  });
});

describe('the audit trail of SSH keys', () => {
  it('records creation, change and deletion', async () => {
    await makeOrganization(server, 'audited');
    const id = await make('told', 'audited');
    expectStatus(await server.patch(byId(id), key({ name: 'retold', value: PRIVATE })), 200);
    expectStatus(await server.delete(byId(id)), 204);
    const reader = server.as(await makeOrganizationToken(server, 'audited'));
    const { body, text } = expectStatus(await reader.get('/api/v2/organization/audit-trail'), 200);
    const entries = body.data.filter((entry: { resource: { type: string } }) => entry.resource.type === 'ssh_key');
    expect(
      entries.map(
        ({ resource: { id: of, action, meta } }: { resource: { id: string; action: string; meta: object } }) => [
          of,
          action,
          meta,
        ],
      ),
    ).toEqual([
      [id, 'destroy', { name: 'retold' }],
      [id, 'update', { change: 'value' }],
      [id, 'update', { change: 'name', name: 'retold' }],
      [id, 'create', { name: 'told' }],
    ]);
    expect(text).not.toContain(KEY_TEXT);
  });
});

describe('the view of SSH keys', () => {
  it('matches the log', async () => {
    await expectViewsMatchLog(server, [sshKeysDefinition]);
  });
});
