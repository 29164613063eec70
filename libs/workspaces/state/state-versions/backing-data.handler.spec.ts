import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { waitForFollowers } from '../../../../test/support/event-log.js';
import { makeOrganization, makeOrganizationToken } from '../../../../test/support/seeds.js';
import { pathOf } from '../../../../test/support/state-file.js';
import {
  startTestServer,
  type ApiResponse,
  type ApiTestClient,
  type TestServer,
} from '../../../../test/support/server.js';
import { expectViewsMatchLog } from '../../../../test/support/views-match-log.js';
import { stateDefinition } from '../index.js';
import { createStateFile, createLockedWorkspace, createStateRequests, unlock } from '../spec.js';
import { StateFiles } from '../files/state.files.js';
import { listStoredEntries } from '../../../activity/audit-trail/spec.js';

const { postState } = createStateRequests((bytes) => createHash('md5').update(bytes).digest('hex'));
const SWEEPER = 'state_sweeper';

let server: TestServer;
let files: StateFiles;

beforeAll(async () => {
  server = await startTestServer({ followers: true });
  await makeOrganization(server, 'acme');
  files = new StateFiles(server.runtime.blobs);
});

afterAll(() => server.close());

const attempt = (id: string, action: string, api: ApiTestClient = server): Promise<ApiResponse> =>
  api.post(`/api/v2/state-versions/${id}/actions/${action}_backing_data`);

const statusOf = async (id: string): Promise<string> =>
  (await server.get(`/api/v2/state-versions/${id}`)).body.data.attributes.status as string;

/** Uploads so many versions with an output each to a locked workspace. Returns their ids, oldest first. */
const versionsIn = async (workspace: string, count: number): Promise<string[]> => {
  const ids: string[] = [];
  for (let serial = 1; serial <= count; serial += 1) {
    const bytes = createStateFile({ serial, outputs: { a: { value: serial, type: 'number' } } });
    const inline = { serial, state: bytes.toString('base64'), 'json-state': Buffer.from('{}').toString('base64') };
    ids.push((await postState(server, workspace, inline, bytes)).body.data.id as string);
  }
  return ids;
};

const filesOf = async (id: string): Promise<readonly boolean[]> =>
  Promise.all([files.has(id, 'state'), files.has(id, 'json-state')]);

describe('soft deletion of the data of a state version', () => {
  it('hides the data without deleting the files, and restoring shows it again', async () => {
    const [old = ''] = await versionsIn(await createLockedWorkspace(server), 2);
    const before = (await server.get(`/api/v2/state-versions/${old}`)).body.data;
    const output = before.relationships.outputs.data[0].id as string;
    const reads = [
      pathOf(before.attributes['hosted-state-download-url'] as string),
      pathOf(before.attributes['hosted-json-state-download-url'] as string),
      `/api/v2/state-versions/${old}/outputs`,
      `/api/v2/state-version-outputs/${output}`,
    ];
    const answer = await attempt(old, 'soft_delete');
    expect(answer.status).toBe(200);
    expect(answer.body.data.attributes).toMatchObject({
      status: 'backing_data_soft_deleted',
      serial: 1,
      'resources-processed': true,
      'hosted-state-download-url': null,
      'hosted-json-state-download-url': null,
      'hosted-state-upload-url': null,
      'hosted-json-state-upload-url': null,
    });
    for (const path of reads) expect([path, (await server.get(path)).status]).toEqual([path, 404]);
    expect((await server.get(`/api/v2/state-versions/${old}?include=outputs`)).body.included).toEqual([]);
    expect(await filesOf(old)).toEqual([true, true]);
    const restored = await attempt(old, 'restore');
    expect([restored.status, restored.body.data]).toEqual([200, before]);
    for (const path of reads) expect([path, (await server.get(path)).status]).toEqual([path, 200]);
  });

  it('is visible in lists as a status', async () => {
    const workspace = await createLockedWorkspace(server, 'listed');
    const [old = ''] = await versionsIn(workspace, 2);
    await attempt(old, 'soft_delete');
    const { data } = (
      await server.get(`/api/v2/workspaces/${workspace}/state-versions?filter[status]=backing_data_soft_deleted`)
    ).body;
    expect(data).toMatchObject([{ id: old }]);
  });

  it('is refused for the current version, and for the one that becomes current at unlock', async () => {
    const workspace = await createLockedWorkspace(server);
    const [first = ''] = await versionsIn(workspace, 1);
    await unlock(server, workspace);
    await server.post(`/api/v2/workspaces/${workspace}/actions/lock`);
    const bytes = createStateFile({ serial: 2 });
    const next = await postState(server, workspace, { serial: 2, state: bytes.toString('base64') }, bytes);
    for (const id of [first, next.body.data.id as string]) expect((await attempt(id, 'soft_delete')).status).toBe(400);
    await unlock(server, workspace);
    expect((await attempt(first, 'soft_delete')).status).toBe(200);
  });

  it('is refused for a version without a state, and returns 404 for a version that does not exist', async () => {
    const workspace = await createLockedWorkspace(server);
    await versionsIn(workspace, 1);
    const pending = await postState(server, workspace, { serial: 2 }, createStateFile({ serial: 2 }));
    expect((await attempt(pending.body.data.id as string, 'soft_delete')).status).toBe(400);
    expect((await attempt('sv-none', 'soft_delete')).status).toBe(404);
  });

  it('never succeeds together with a simultaneous unlock that makes the version current', async () => {
    for (let round = 0; round < 8; round += 1) {
      const workspace = await createLockedWorkspace(server);
      const [first = ''] = await versionsIn(workspace, 1);
      const later = (await postState(server, workspace, { serial: 2 }, createStateFile({ serial: 2 }))).body.data;
      const [deleted] = await Promise.all([
        attempt(first, 'soft_delete'),
        server.put(pathOf(later.attributes['hosted-state-upload-url'] as string), createStateFile({ serial: 2 })),
      ]);
      await server.post(`/api/v2/workspaces/${workspace}/actions/unlock`);
      const current = await server.get(`/api/v2/workspaces/${workspace}/current-state-version`);
      expect([deleted.status, current.body.data.id]).toEqual([expect.any(Number), later.id]);
      expect(await statusOf(first)).toBe(deleted.status === 200 ? 'backing_data_soft_deleted' : 'finalized');
    }
  });

  it('prevents a rollback to the version', async () => {
    const workspace = await createLockedWorkspace(server);
    const [old = ''] = await versionsIn(workspace, 2);
    await attempt(old, 'soft_delete');
    const rollback = { data: { relationships: { 'rollback-state-version': { data: { id: old } } } } };
    expect((await server.patch(`/api/v2/workspaces/${workspace}/state-versions`, rollback)).status).toBe(422);
  });
});

describe('permanent deletion of the data of a state version', () => {
  it('requires a soft deletion first, removes the files, and cannot be undone', async () => {
    const [old = '', current = ''] = await versionsIn(await createLockedWorkspace(server), 2);
    expect((await attempt(old, 'permanently_delete')).status).toBe(400);
    expect((await attempt(old, 'soft_delete')).status).toBe(200);
    const answer = await attempt(old, 'permanently_delete');
    expect([answer.status, answer.body.data.attributes.status]).toEqual([200, 'backing_data_permanently_deleted']);
    for (const action of ['soft_delete', 'restore', 'permanently_delete']) {
      expect((await attempt(old, action)).status).toBe(400);
    }
    expect((await server.get(`/api/v2/state-versions/${old}/download`)).status).toBe(404);
    await waitForFollowers(server.store, SWEEPER);
    expect(await filesOf(old)).toEqual([false, false]);
    expect(await filesOf(current)).toEqual([true, true]);
  });

  it('invalidates upload links that were issued before', async () => {
    const workspace = await createLockedWorkspace(server);
    const bytes = createStateFile();
    const { id, attributes } = (await postState(server, workspace, {}, bytes)).body.data;
    const links = ['hosted-state-upload-url', 'hosted-json-state-upload-url'].map((name) =>
      pathOf(attributes[name] as string),
    );
    const [state = '', json = ''] = links;
    expect((await server.put(state, bytes)).status).toBe(200);
    const next = createStateFile({ serial: 2 });
    await postState(server, workspace, { serial: 2, state: next.toString('base64') }, next);
    await attempt(id as string, 'soft_delete');
    expect((await server.put(json, Buffer.from('{}'))).status).toBe(404);
    await attempt(id as string, 'permanently_delete');
    for (const link of [state, json]) expect((await server.put(link, bytes)).status).toBe(404);
    await waitForFollowers(server.store, SWEEPER);
    expect(await filesOf(id as string)).toEqual([false, false]);
  });
});

describe('permissions on the data of state versions', () => {
  it('follow the permission table, and other callers get 404', async () => {
    const [old = ''] = await versionsIn(await createLockedWorkspace(server), 2);
    await makeOrganization(server, 'strangers');
    for (const name of ['acme', 'strangers']) {
      const api = server.as(await makeOrganizationToken(server, name));
      for (const action of ['soft_delete', 'restore', 'permanently_delete']) {
        expect((await attempt(old, action, api)).status).toBe(404);
      }
    }
    expect((await attempt(old, 'soft_delete', server.as(null))).status).toBe(401);
    expect(await statusOf(old)).toBe('finalized');
  });
});

describe('the log of deletions', () => {
  it('becomes entries of the audit trail, and rebuilds to the same views', async () => {
    const workspace = await createLockedWorkspace(server);
    const [old = ''] = await versionsIn(workspace, 2);
    for (const action of ['soft_delete', 'restore', 'soft_delete', 'permanently_delete']) await attempt(old, action);
    await waitForFollowers(server.store, 'audit_trail');
    const entries = await listStoredEntries(server.database, sql`e.resource_id = ${old}`);
    expect(entries.map((entry) => entry.resource)).toMatchObject(
      [
        'create',
        'soft_delete_backing_data',
        'restore_backing_data',
        'soft_delete_backing_data',
        'permanently_delete_backing_data',
      ].map((action) => ({ type: 'state_version', action })),
    );
    await expectViewsMatchLog(server, [stateDefinition]);
  });
});
