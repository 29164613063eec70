import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newStateVersion, stateFile } from '../../../../test/support/state-file.js';
import {
  expectStatus,
  grantWorkspaceAccess,
  makeMember,
  makeOrganization,
  makeTeam,
  makeWorkspace,
  resource,
  type SeededMember,
} from '../../../../test/support/seeds.js';
import { getDetail } from '../../../../test/support/responses.js';
import {
  startTestServer,
  type ApiResponse,
  type ApiTestClient,
  type TestServer,
} from '../../../../test/support/server.js';

let server: TestServer;
let owner: SeededMember;
/** Administrator of the workspaces that `createWorkspaceAsAdmin` creates. */
let admin: SeededMember;
let writer: SeededMember;
let reader: SeededMember;
let stranger: SeededMember;
let levels: readonly (readonly [team: string, level: string])[];

beforeAll(async () => {
  server = await startTestServer();
  const acme = await makeOrganization(server, 'acme');
  await makeOrganization(server, 'elsewhere');
  owner = await makeMember(server, 'acme', 'olga', [acme.ownersTeam]);
  const team = async (level: string): Promise<string> => makeTeam(server, 'acme', level);
  const [admins, writers, readers] = [await team('admin'), await team('write'), await team('read')];
  levels = [
    [admins, 'admin'],
    [writers, 'write'],
    [readers, 'read'],
  ];
  admin = await makeMember(server, 'acme', 'ada', [admins]);
  writer = await makeMember(server, 'acme', 'will', [writers]);
  reader = await makeMember(server, 'acme', 'rita', [readers]);
  stranger = await makeMember(server, 'elsewhere', 'stan');
});

afterAll(() => server.close());

let count = 0;

/** Creates a workspace, and returns its paths by id and by name. */
const createWorkspaceAsAdmin = async (): Promise<{ id: string; paths: readonly string[] }> => {
  const name = `ws-${(count += 1)}`;
  const id = await makeWorkspace(server, 'acme', name);
  for (const [team, level] of levels) await grantWorkspaceAccess(server, team, id, level);
  return { id, paths: [`/api/v2/workspaces/${id}`, `/api/v2/organizations/acme/workspaces/${name}`] };
};

const lock = async (id: string): Promise<void> =>
  void expectStatus(await server.post(`/api/v2/workspaces/${id}/actions/lock`), 200);
const unlock = async (id: string): Promise<void> =>
  void expectStatus(await server.post(`/api/v2/workspaces/${id}/actions/unlock`), 200);

const addState = async (id: string, inline: boolean): Promise<void> => {
  await lock(id);
  const body = newStateVersion(stateFile({ names: ['a', 'b'] }), { inline });
  expectStatus(await server.post(`/api/v2/workspaces/${id}/state-versions`, body), 201);
};

const safeDelete = (path: string, api: ApiTestClient = server): Promise<ApiResponse> =>
  api.post(`${path}/actions/safe-delete`);

const allowForce = async (allowed: boolean): Promise<void> => {
  const body = resource('organizations', { 'allow-force-delete-workspaces': allowed });
  expectStatus(await server.patch('/api/v2/organizations/acme', body), 200);
};

const statuses = async (...answers: readonly Promise<ApiResponse>[]): Promise<readonly number[]> =>
  (await Promise.all(answers)).map(({ status }) => status);

describe('a safe deletion', () => {
  it('deletes a workspace that manages no resources', async () => {
    for (const index of [0, 1]) {
      const { id, paths } = await createWorkspaceAsAdmin();
      const path = paths[index] ?? '';
      expect(await statuses(safeDelete(path))).toEqual([204]);
      expect(await statuses(server.get(`/api/v2/workspaces/${id}`), safeDelete(path))).toEqual([404, 404]);
    }
  });

  // Clients look for the words `locked` and `being processed`, and take any other text for managed resources.
  it('reports that the workspace is locked', async () => {
    const { id, paths } = await createWorkspaceAsAdmin();
    await lock(id);
    for (const path of paths) {
      const detail = getDetail(expectStatus(await safeDelete(path), 409));
      expect(detail).toContain('locked');
      expect(detail).not.toContain('being processed');
    }
  });

  it('reports the lock while a state is being uploaded: the workspace is unlocked only by force, which discards the upload', async () => {
    const { id, paths } = await createWorkspaceAsAdmin();
    await addState(id, false);
    expect(getDetail(expectStatus(await safeDelete(paths[0] ?? ''), 409))).toContain('locked');
    expectStatus(await server.post(`/api/v2/workspaces/${id}/actions/unlock`), 503);
    expectStatus(await server.post(`/api/v2/workspaces/${id}/actions/force-unlock`), 200);
    expectStatus(await safeDelete(paths[0] ?? ''), 204);
  });

  it('reports the number of managed resources without those two words', async () => {
    const { id, paths } = await createWorkspaceAsAdmin();
    await addState(id, true);
    await unlock(id);
    for (const path of paths) {
      const detail = getDetail(expectStatus(await safeDelete(path), 409));
      expect(detail).toMatch(/^(?!.*locked)(?!.*being processed).*2 resources/);
    }
    expectStatus(await server.get(`/api/v2/workspaces/${id}`), 200);
  });

  it('requires admin access; other callers do not learn whether the workspace is locked', async () => {
    const { id, paths } = await createWorkspaceAsAdmin();
    await lock(id);
    for (const path of paths) {
      const refused = [writer, reader, stranger].map((api) => safeDelete(path, api));
      expect(await statuses(...refused, safeDelete(path, admin))).toEqual([404, 404, 404, 409]);
    }
    await unlock(id);
    expect(await statuses(safeDelete(paths[0] ?? '', admin))).toEqual([204]);
  });
});

describe('a forced deletion', () => {
  const canForce = async (api: ApiTestClient, id: string): Promise<unknown> =>
    expectStatus(await api.get(`/api/v2/workspaces/${id}`), 200).body.data.attributes.permissions['can-force-delete'];

  it('requires an owner, and the document shows that', async () => {
    for (const index of [0, 1]) {
      const { id, paths } = await createWorkspaceAsAdmin();
      const path = paths[index] ?? '';
      for (const api of [admin, writer, reader]) {
        expect(await canForce(api, id)).toBe(false);
        expectStatus(await api.delete(path), 403);
      }
      expectStatus(await stranger.delete(path), 404);
      expect(await canForce(owner, id)).toBe(true);
      expectStatus(await owner.delete(path), 204);
      expectStatus(await server.get(path), 404);
    }
  });

  it('requires admin access if the organization allows that', async () => {
    await allowForce(true);
    for (const index of [0, 1]) {
      const { id, paths } = await createWorkspaceAsAdmin();
      const path = paths[index] ?? '';
      for (const api of [writer, reader]) {
        expect(await canForce(api, id)).toBe(false);
        expectStatus(await api.delete(path), 403);
      }
      expectStatus(await stranger.delete(path), 404);
      expect(await canForce(admin, id)).toBe(true);
      expectStatus(await admin.delete(path), 204);
      expectStatus(await server.get(path), 404);
    }
    await allowForce(false);
    const { id, paths } = await createWorkspaceAsAdmin();
    expect(await canForce(admin, id)).toBe(false);
    expectStatus(await admin.delete(paths[0] ?? ''), 403);
  });

  it('ignores the lock, a pending upload and managed resources', async () => {
    const locked = await createWorkspaceAsAdmin();
    await lock(locked.id);
    const uploading = await createWorkspaceAsAdmin();
    await addState(uploading.id, false);
    const managing = await createWorkspaceAsAdmin();
    await addState(managing.id, true);
    await unlock(managing.id);
    const paths = [locked, uploading, managing].map((workspace) => workspace.paths[0] ?? '');
    expect(await statuses(...paths.map((path) => safeDelete(path)))).toEqual([409, 409, 409]);
    expect(await statuses(...paths.map((path) => owner.delete(path)))).toEqual([204, 204, 204]);
  });
});
