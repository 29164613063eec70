import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runBetween } from '../../../../test/support/interleaving.js';
import { logLength } from '../../../../test/support/event-log.js';
import {
  expectStatus,
  grantWorkspaceAccess,
  makeMember,
  makeOrganization,
  makeOrganizationToken,
  makeTeam,
  makeWorkspace,
  resource,
} from '../../../../test/support/seeds.js';
import {
  startTestServer,
  type ApiResponse,
  type ApiTestClient,
  type TestServer,
} from '../../../../test/support/server.js';
import { expectViewsMatchLog } from '../../../../test/support/views-match-log.js';
import { workspacesDefinition } from '../index.js';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({ followers: true });
  await makeOrganization(server, 'acme');
  await makeOrganization(server, 'neighbour');
});

afterAll(() => server.close());

const path = (workspace: string): string => `/api/v2/workspaces/${workspace}`;

/** As go-tfe sends it: the id is an attribute of the workspace. */
const assign = (workspace: string, id: unknown, api: ApiTestClient = server): Promise<ApiResponse> =>
  api.patch(`${path(workspace)}/relationships/ssh-key`, resource('workspaces', { id }));

const makeKey = async (name: string, organization = 'acme'): Promise<string> => {
  const body = resource('ssh-keys', { name, value: '-----BEGIN OPENSSH PRIVATE KEY-----' });
  return expectStatus(await server.post(`/api/v2/organizations/${organization}/ssh-keys`, body), 201).body.data
    .id as string;
};

const keyOf = async (workspace: string): Promise<unknown> =>
  expectStatus(await server.get(path(workspace)), 200).body.data.relationships['ssh-key'];

describe('the SSH key of a workspace', () => {
  it('is assigned, replaced and removed, and the response is the workspace', async () => {
    const workspace = await makeWorkspace(server, 'acme', 'one');
    expect(await keyOf(workspace)).toEqual({ data: null });
    for (const key of [await makeKey('first'), await makeKey('second')]) {
      const { body } = expectStatus(await assign(workspace, key), 200);
      expect(body.data.relationships['ssh-key']).toEqual({
        data: { type: 'ssh-keys', id: key },
        links: { related: `/api/v2/ssh-keys/${key}` },
      });
      expect((await server.get(path(workspace))).body).toEqual(body);
      const listed = await server.get('/api/v2/organizations/acme/workspaces?search[name]=one');
      expect(listed.body.data).toEqual([body.data]);
    }
    const { body } = expectStatus(await assign(workspace, null), 200);
    expect(body.data.relationships['ssh-key']).toEqual({ data: null });
    expect((await server.get(path(workspace))).body).toEqual(body);
  });

  it('stays if another attribute changes', async () => {
    const workspace = await makeWorkspace(server, 'acme', 'kept');
    const key = await makeKey('kept');
    expectStatus(await assign(workspace, key), 200);
    expectStatus(await server.patch(path(workspace), resource('workspaces', { description: 'changed' })), 200);
    expect(await keyOf(workspace)).toMatchObject({ data: { id: key } });
  });

  it('leaves no event if it does not change', async () => {
    const workspace = await makeWorkspace(server, 'acme', 'same');
    const key = await makeKey('same');
    expectStatus(await assign(workspace, key), 200);
    const before = await logLength(server.store);
    expectStatus(await assign(workspace, key), 200);
    expect(await logLength(server.store)).toBe(before);
    expectStatus(await assign(workspace, null), 200);
    expectStatus(await assign(workspace, null), 200);
    expect(await logLength(server.store)).toBe(before + 1);
  });

  it('must be of the same organization', async () => {
    const workspace = await makeWorkspace(server, 'acme', 'strict');
    const answers = await Promise.all(
      [await makeKey('foreign', 'neighbour'), 'sshkey-none', workspace].map((id) => assign(workspace, id)),
    );
    for (const answer of answers) {
      const [error] = expectStatus(answer, 422).body.errors;
      expect(error).toMatchObject({ detail: 'SSH key does not exist', source: { pointer: '/data/attributes/id' } });
    }
    expect(await keyOf(workspace)).toEqual({ data: null });
  });

  it.each([
    [resource('workspaces', {}), '/data/attributes/id'],
    [resource('workspaces', { id: 7 }), '/data/attributes/id'],
    [resource('ssh-keys', { id: null }), '/data/type'],
    [{}, '/data'],
  ])('is not parsed from %j', async (body, pointer) => {
    const workspace = await makeWorkspace(server, 'acme', `bad-${pointer.length}-${JSON.stringify(body).length}`);
    const answer = expectStatus(await server.patch(`${path(workspace)}/relationships/ssh-key`, body), 422);
    expect(answer.body.errors[0].source.pointer).toBe(pointer);
  });

  it('is removed when the key is deleted, and that key cannot be assigned any more', async () => {
    const workspaces = [await makeWorkspace(server, 'acme', 'left'), await makeWorkspace(server, 'acme', 'right')];
    const key = await makeKey('doomed');
    for (const workspace of workspaces) expectStatus(await assign(workspace, key), 200);
    expectStatus(await server.delete(`/api/v2/ssh-keys/${key}`), 204);
    for (const workspace of workspaces) {
      expect(await keyOf(workspace)).toEqual({ data: null });
      expectStatus(await assign(workspace, key), 422);
      expectStatus(await assign(workspace, null), 200);
    }
  });

  it('is never one that is deleted at the same time', async () => {
    const workspace = await makeWorkspace(server, 'acme', 'raced');
    const key = await makeKey('raced');
    runBetween(server.store, () => server.delete(`/api/v2/ssh-keys/${key}`));
    expectStatus(await assign(workspace, key), 422);
    expect(await keyOf(workspace)).toEqual({ data: null });
  });
});

describe('assigning an SSH key', () => {
  it('requires admin access; other callers do not learn whether there is a key', async () => {
    const workspace = await makeWorkspace(server, 'acme', 'guarded');
    const key = await makeKey('guarded');
    const [admins, writers] = [await makeTeam(server, 'acme', 'admins'), await makeTeam(server, 'acme', 'writers')];
    await grantWorkspaceAccess(server, admins, workspace, 'admin');
    await grantWorkspaceAccess(server, writers, workspace, 'write');
    const admin = await makeMember(server, 'acme', 'ada', [admins]);
    const writer = await makeMember(server, 'acme', 'bob', [writers]);
    const organization = server.as(await makeOrganizationToken(server, 'acme'));
    const stranger = await makeMember(server, 'neighbour', 'eve');
    for (const api of [writer, organization, stranger]) {
      const answers = await Promise.all([key, 'sshkey-none', null].map((id) => assign(workspace, id, api)));
      expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
    }
    expectStatus(await assign('ws-none', key), 404);
    expectStatus(await assign(workspace, key, server.as(null)), 401);
    expectStatus(await assign(workspace, key, admin), 200);
  });
});

describe('the log of SSH keys', () => {
  it('fills the audit trail, and the views rebuilt from it are the same', async () => {
    await makeOrganization(server, 'audited');
    const workspace = await makeWorkspace(server, 'audited', 'told');
    const key = await makeKey('told', 'audited');
    expectStatus(await assign(workspace, key), 200);
    expectStatus(await assign(workspace, null), 200);
    const reader = server.as(await makeOrganizationToken(server, 'audited'));
    const { body } = expectStatus(await reader.get('/api/v2/organization/audit-trail'), 200);
    const entries = body.data
      .map((entry: { resource: { type: string; action: string; meta: object } }) => entry.resource)
      .filter(({ type, action }: { type: string; action: string }) => type === 'workspace' && action === 'update');
    expect(entries).toMatchObject([
      { id: workspace, meta: { change: 'ssh_key', ssh_key_id: null } },
      { id: workspace, meta: { change: 'ssh_key', ssh_key_id: key } },
    ]);
    await expectViewsMatchLog(server, [workspacesDefinition]);
  });
});
