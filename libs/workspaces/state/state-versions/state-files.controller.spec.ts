import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { EncryptedBlobs, FolderBlobs } from '#storage/blob-store';
import { AdjustableClock } from '../../../../test/support/clocks.js';
import { waitUntil } from '../../../../test/support/product.js';
import {
  expectStatus,
  grantWorkspaceAccess,
  makeMember,
  makeOrganization,
  makeTeam,
  resource,
} from '../../../../test/support/seeds.js';
import { startTestServer, type ApiResponse, type TestServer } from '../../../../test/support/server.js';
import { expectViewsMatchLog } from '../../../../test/support/views-match-log.js';
import { createAbandonedStateVersionsJob, stateDefinition } from '../index.js';
import { createStateFile, createLockedWorkspace, createStateRequests, unlock } from '../spec.js';
import { StateFiles } from '../files/state.files.js';

const md5Of = (bytes: Buffer): string => createHash('md5').update(bytes).digest('hex');
const { postState } = createStateRequests(md5Of);

const clock = new AdjustableClock();
let server: TestServer;
/** The stored files, read directly from the blob store. */
let files: StateFiles;

beforeAll(async () => {
  server = await startTestServer({ clock });
  await makeOrganization(server, 'acme');
  const { settings, encryptionKeys } = server.runtime;
  files = new StateFiles(new EncryptedBlobs(new FolderBlobs(settings.blobsFolder, clock), encryptionKeys));
});

afterAll(() => server.close());

/** Returns the path of a link. Its origin is the public URL, where the test server does not listen. */
const pathOf = (link: unknown): string => new URL(link as string).pathname;

const put = (path: string, body: Buffer, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
  fetch(`${server.url}${path}`, { method: 'PUT', body: body as unknown as string, headers });

type Pending = { readonly id: string; readonly workspace: string; readonly state: string; readonly json: string };

const pendingVersion = async (bytes: Buffer, attributes: object = {}): Promise<Pending> => {
  const workspace = await createLockedWorkspace(server);
  const created = await postState(server, workspace, attributes, bytes);
  expect(created.status).toBe(201);
  const { id, attributes: initial } = created.body.data;
  expect(initial).toMatchObject({
    status: 'pending',
    size: null,
    'resources-processed': false,
    'hosted-state-download-url': null,
    'hosted-json-state-download-url': null,
  });
  return {
    id: id as string,
    workspace,
    state: pathOf(initial['hosted-state-upload-url']),
    json: pathOf(initial['hosted-json-state-upload-url']),
  };
};

const show = async (id: string): Promise<ApiResponse['body']> =>
  (await server.get(`/api/v2/state-versions/${id}`)).body.data.attributes;

const JSON_STATE = Buffer.from('{"format_version":"1.0","values":{}}');

describe('uploading to signed links', () => {
  it('accepts both files at the same time, without a token and with any content type, and finalizes the version', async () => {
    const bytes = createStateFile({ outputs: { a: { value: 1, type: 'number' } } });
    const version = await pendingVersion(bytes);
    const answers = await Promise.all([
      put(version.json, JSON_STATE, { 'content-type': 'application/json' }),
      put(version.state, bytes, { 'content-type': 'text/plain; charset=utf-8' }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    const attributes = await show(version.id);
    expect(attributes).toMatchObject({
      status: 'finalized',
      size: bytes.length,
      'hosted-state-upload-url': null,
      'hosted-json-state-upload-url': null,
    });
    expect((await server.get(pathOf(attributes['hosted-state-download-url']))).text).toBe(bytes.toString());
    expect((await server.get(pathOf(attributes['hosted-json-state-download-url']))).text).toBe(JSON_STATE.toString());
    await unlock(server, version.workspace);
    const workspace = await server.get(`/api/v2/workspaces/${version.workspace}`);
    expect(workspace.body.data.relationships['current-state-version'].data.id).toBe(version.id);
  });

  it('accepts the JSON state before or after the state', async () => {
    const [before, after] = [await pendingVersion(createStateFile()), await pendingVersion(createStateFile())];
    expect((await put(before.json, JSON_STATE)).status).toBe(200);
    expect(await show(before.id)).toMatchObject({ status: 'pending', 'hosted-json-state-upload-url': null });
    expect((await put(before.state, createStateFile())).status).toBe(200);
    expect((await put(after.state, createStateFile())).status).toBe(200);
    expect(await show(after.id)).toMatchObject({ status: 'finalized', 'hosted-json-state-download-url': null });
    expect((await put(after.json, JSON_STATE)).status).toBe(200);
    for (const { id } of [before, after]) {
      expect((await show(id))['hosted-json-state-download-url']).not.toBeNull();
    }
  });

  it('keeps the workspace locked until the state is uploaded, with the error text that clients wait for', async () => {
    const version = await pendingVersion(createStateFile());
    const early = await server.post(`/api/v2/workspaces/${version.workspace}/actions/unlock`);
    expect([early.status, early.text]).toEqual([503, expect.stringContaining('latest state version is still pending')]);
    await put(version.state, createStateFile());
    await unlock(server, version.workspace);
  });

  it('accepts the same file again, and refuses a different file with a conflict', async () => {
    const bytes = createStateFile();
    const version = await pendingVersion(bytes);
    expect((await put(version.state, bytes)).status).toBe(200);
    expect((await put(version.state, bytes)).status).toBe(200);
    for (const body of [createStateFile({ name: 'other' }), Buffer.alloc(0), Buffer.alloc(3_000_000)]) {
      expect((await put(version.state, body)).status).toBe(409);
    }
    expect((await put(version.json, JSON_STATE)).status).toBe(200);
    expect((await put(version.json, JSON_STATE)).status).toBe(200);
    expect((await put(version.json, Buffer.from('{}'))).status).toBe(409);
    expect((await server.get(`/api/v2/state-versions/${version.id}/download`)).text).toBe(bytes.toString());
    expect((await server.get(`/api/v2/state-versions/${version.id}/json-download`)).text).toBe(JSON_STATE.toString());
  });

  it('accepts many simultaneous uploads of the same file, and appends one event', async () => {
    const bytes = createStateFile({ outputs: { a: { value: 'x'.repeat(100_000), type: 'string' } } });
    const version = await pendingVersion(bytes);
    const answers = await Promise.all(Array.from({ length: 10 }, () => put(version.state, bytes)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect((await server.get(`/api/v2/state-versions/${version.id}/download`)).text).toBe(bytes.toString());
    const finalized = await server.database.row<{ n: number }>(sql`
      select count(*) as n from event_store.events
       where type = 'StateVersionFinalized' and stream = ${version.workspace}`);
    expect(finalized?.n).toBe(1);
  });

  it.each([
    ['another MD5 than declared', createStateFile({ name: 'other' }), /MD5/],
    ['nothing', Buffer.alloc(0), /MD5/],
  ])('refuses %s without any change, and then accepts the right state', async (_name, wrong, detail) => {
    const bytes = createStateFile();
    const version = await pendingVersion(bytes);
    const refused = await put(version.state, wrong);
    const { errors } = (await refused.json()) as { errors: { detail: string }[] };
    expect([refused.status, errors[0]?.detail]).toEqual([422, expect.stringMatching(detail)]);
    expect((await show(version.id)).status).toBe('pending');
    expect(await files.has(version.id, 'state')).toBe(false);
    expect((await put(version.state, bytes)).status).toBe(200);
  });

  it.each([
    ['is not a state', Buffer.from('{"not":"a state"}'), {}, /it is not a state/],
    ['has a later format', Buffer.from('{"version":5,"serial":1}'), {}, /its format is 5, only 1 to 4 are supported/],
    [
      'has a lower serial than declared',
      createStateFile({ serial: 5 }),
      { serial: 6 },
      /^Serial 6 is above the serial of the state file, 5$/,
    ],
    [
      'has another lineage than declared with its serial',
      createStateFile({ serial: 5 }),
      { serial: 5, lineage: 'other' },
      /^Lineage other is not the lineage of the state file, 3c8a1b0e/,
    ],
  ])(
    'ends the version as errored if the file %s, so that the workspace can be unlocked',
    async (_, bytes, attributes, detail) => {
      const version = await pendingVersion(bytes, attributes);
      expect((await put(version.json, JSON_STATE)).status).toBe(200);
      const refused = await put(version.state, bytes);
      const { errors } = (await refused.json()) as { errors: { detail: string }[] };
      expect([refused.status, errors[0]?.detail]).toEqual([422, expect.stringMatching(detail)]);
      expect(await show(version.id)).toMatchObject({ status: 'errored', size: null, 'hosted-state-upload-url': null });
      expect(await files.has(version.id, 'state')).toBe(false);
      expect(await files.has(version.id, 'json-state')).toBe(false);
      expect((await put(version.state, bytes)).status).toBe(404);
      await unlock(server, version.workspace);
    },
  );

  it('can be uploaded as a new version after the file was refused', async () => {
    const bytes = createStateFile({ serial: 5 });
    const version = await pendingVersion(bytes, { serial: 6 });
    expect((await put(version.state, bytes)).status).toBe(422);
    const again = await postState(server, version.workspace, { serial: 6 }, bytes);
    expect([again.status, again.body.data.id === version.id]).toEqual([201, false]);
    const right = await postState(server, version.workspace, { serial: 5, state: bytes.toString('base64') }, bytes);
    expect([right.status, right.body.data.attributes.status]).toEqual([201, 'finalized']);
    await unlock(server, version.workspace);
  });

  it('refuses simultaneous uploads of a file that is not a state', async () => {
    const bytes = Buffer.from(`{"not":"a state","but":"${'long'.repeat(10_000)}"}`);
    const version = await pendingVersion(bytes);
    const answers = await Promise.all(Array.from({ length: 20 }, () => put(version.state, bytes)));
    expect(answers.filter(({ status }) => ![422, 409, 404].includes(status))).toEqual([]);
    expect((await show(version.id)).status).toBe('errored');
    expect(await files.has(version.id, 'state')).toBe(false);
  });

  it('stores nothing of an interrupted upload, and then accepts the complete file', async () => {
    const bytes = createStateFile({ outputs: { a: { value: 'x'.repeat(2_000_000), type: 'string' } } });
    const version = await pendingVersion(bytes);
    await new Promise<void>((resolve) => {
      const headers = { 'content-length': bytes.length };
      const half = httpRequest(`${server.url}${version.state}`, { method: 'PUT', headers });
      half.on('error', () => resolve());
      half.on('close', () => resolve());
      half.write(bytes.subarray(0, 1_000_000), () => half.destroy());
    });
    const drafts = join(server.runtime.settings.blobsFolder, '.drafts');
    await waitUntil(async () => (await readdir(drafts)).length === 0, 'what had come is gone');
    expect((await show(version.id)).status).toBe('pending');
    expect((await put(version.state, bytes)).status).toBe(200);
    expect((await server.get(`/api/v2/state-versions/${version.id}/download`)).text).toBe(bytes.toString());
  });

  it('finalizes a file that a killed process stored without an event, when it is uploaded again', async () => {
    const bytes = createStateFile();
    const version = await pendingVersion(bytes);
    await files.put(version.id, 'state', bytes);
    expect((await show(version.id)).status).toBe('pending');
    expect((await server.get(`/api/v2/state-versions/${version.id}/download`)).status).toBe(404);
    expect((await put(version.state, bytes)).status).toBe(200);
    expect((await show(version.id)).status).toBe('finalized');
  });

  it('refuses an upload if a different content with the same MD5 is stored', async () => {
    // Simulates different stored content with the same MD5.
    const bytes = createStateFile();
    const version = await pendingVersion(bytes);
    await files.put(version.id, 'state', createStateFile({ name: 'collides' }));
    expect((await put(version.state, bytes)).status).toBe(409);
    expect((await show(version.id)).status).toBe('pending');
  });

  it('accepts a state in chunks of unknown length', async () => {
    const bytes = createStateFile();
    const version = await pendingVersion(bytes);
    const body = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream();
    const init = { method: 'PUT', body, duplex: 'half' };
    expect((await fetch(`${server.url}${version.state}`, init as RequestInit)).status).toBe(200);
  });

  it('ignores tokens, valid or not', async () => {
    const bytes = createStateFile();
    const version = await pendingVersion(bytes);
    expect((await put(version.state, bytes, { authorization: 'Bearer nonsense' })).status).toBe(200);
  });
});

describe('a state with very many outputs', () => {
  const withOutputs = (count: number, length: number, type: unknown): Buffer => {
    const name = (n: number): string => `${n}`.padStart(length, 'n');
    return createStateFile({
      outputs: Object.fromEntries(Array.from({ length: count }, (_, n) => [name(n), { value: null, type }])),
    });
  };

  it('keeps its outputs without their `detailed-type` if the types do not fit into one event', async () => {
    const attributes = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`attribute_${n}`, 'string']));
    const bytes = withOutputs(300, 10, ['object', attributes]);
    const version = await pendingVersion(bytes);
    expect((await put(version.state, bytes)).status).toBe(200);
    const { body } = await server.get(`/api/v2/state-versions/${version.id}/outputs`);
    expect(body.meta.pagination['total-count']).toBe(300);
    expect(body.data[0].attributes).toMatchObject({ type: 'object', 'detailed-type': null });
  });

  it('is refused without storing anything if the names alone do not fit', async () => {
    const bytes = withOutputs(5_000, 200, 'string');
    const version = await pendingVersion(bytes);
    expect((await put(version.state, bytes)).status).toBe(422);
    expect(await files.has(version.id, 'state')).toBe(false);
  });
});

describe('a version that was never uploaded', () => {
  const listed = async (query: string): Promise<unknown[]> =>
    (await server.get(`/api/v2/state-versions?filter[organization][name]=acme&${query}`)).body.data;

  it('is discarded by a forced unlock, and the previous state stays current', async () => {
    const workspace = await createLockedWorkspace(server, 'lost');
    const first = createStateFile({ serial: 5 });
    await postState(server, workspace, { serial: 5, state: first.toString('base64') }, first);
    await unlock(server, workspace);
    await server.post(`/api/v2/workspaces/${workspace}/actions/lock`);
    const never = createStateFile({ serial: 6 });
    const { id, attributes } = (await postState(server, workspace, { serial: 6 }, never)).body.data;
    const actions = `/api/v2/workspaces/${workspace}/actions`;
    expect((await server.post(`${actions}/unlock`)).status).toBe(503);
    expect((await server.post(`${actions}/force-unlock`)).status).toBe(200);
    expect(await show(id)).toMatchObject({
      status: 'discarded',
      'hosted-state-upload-url': null,
      'hosted-json-state-upload-url': null,
      'hosted-state-download-url': null,
    });
    expect((await put(pathOf(attributes['hosted-state-upload-url']), never)).status).toBe(404);
    expect((await put(pathOf(attributes['hosted-json-state-upload-url']), JSON_STATE)).status).toBe(404);
    expect(await files.has(id, 'state')).toBe(false);
    expect((await server.get(`/api/v2/state-versions/${id}/download`)).status).toBe(404);
    const current = await server.get(`/api/v2/workspaces/${workspace}/current-state-version`);
    expect(current.body.data.attributes.serial).toBe(5);
    expect(await listed('filter[workspace][name]=lost')).toHaveLength(1);
    expect(await listed('filter[workspace][name]=lost&filter[status]=discarded')).toMatchObject([{ id }]);
    await server.post(`${actions}/lock`);
    const repeated = await postState(server, workspace, { serial: 6, state: never.toString('base64') }, never);
    expect([repeated.status, repeated.body.data.attributes.status]).toEqual([201, 'finalized']);
    expect(repeated.body.data.id).not.toBe(id);
    await unlock(server, workspace);
  });

  it('is replaced by the next version of the same lock holder, even with the same serial', async () => {
    const version = await pendingVersion(createStateFile());
    const otherState = createStateFile({ name: 'other' });
    const next = await postState(server, version.workspace, { state: otherState.toString('base64') }, otherState);
    expect(next.status).toBe(201);
    expect((await put(version.state, createStateFile())).status).toBe(404);
    expect((await show(version.id)).status).toBe('discarded');
    await unlock(server, version.workspace);
  });

  it('ends as errored when its upload link has expired, so that the workspace can be unlocked', async () => {
    const { store, runtime } = server;
    const job = createAbandonedStateVersionsJob(store, clock, runtime.ids);
    const run = (): Promise<void> => job.run({ signal: new AbortController().signal, done: () => undefined });
    const version = await pendingVersion(createStateFile());
    await run();
    expect((await show(version.id)).status).toBe('pending');
    clock.pass({ days: 1, minutes: 62 });
    await run();
    expect((await show(version.id)).status).toBe('errored');
    await unlock(server, version.workspace);
  });

  it('is either finalized or discarded if the upload and a forced unlock happen at the same time', async () => {
    const bytes = createStateFile();
    for (let round = 0; round < 8; round += 1) {
      const { id, workspace, state } = await pendingVersion(bytes);
      const [sent, broken] = await Promise.all([
        put(state, bytes),
        server.post(`/api/v2/workspaces/${workspace}/actions/force-unlock`),
      ]);
      expect(broken.status).toBe(200);
      expect([200, 404]).toContain(sent.status);
      const current = await server.get(`/api/v2/workspaces/${workspace}/current-state-version`);
      const isUploaded = sent.status === 200;
      expect([current.status, (await show(id)).status, await files.has(id, 'state')]).toEqual(
        isUploaded ? [200, 'finalized', true] : [404, 'discarded', false],
      );
    }
  });

  it('leaves views that equal the rebuilt ones', async () => {
    await expectViewsMatchLog(server, [stateDefinition]);
  });
});

describe('a signed upload link', () => {
  it('is refused if it is forged', async () => {
    const bytes = createStateFile();
    const [mine, other] = [await pendingVersion(bytes), await pendingVersion(bytes)];
    const [payload = ''] = mine.state.split('.');
    const [, mac = ''] = other.state.split('.');
    for (const path of [`${payload}.${mac}`, '/api/v2/state-versions/upload/x', `${mine.state}A`]) {
      const answer = await put(path, bytes);
      expect([answer.status, answer.headers.get('content-type')]).toEqual([
        403,
        expect.stringContaining('vnd.api+json'),
      ]);
    }
    expect((await show(mine.id)).status).toBe('pending');
  });

  it('stores a file as the JSON state only, if it is for the JSON state', async () => {
    const bytes = createStateFile();
    const version = await pendingVersion(bytes);
    expect((await put(version.json, bytes)).status).toBe(200);
    expect((await show(version.id)).status).toBe('pending');
  });

  it('expires after a day, and the document then has a new one', async () => {
    const bytes = createStateFile();
    const version = await pendingVersion(bytes);
    clock.pass({ days: 1 });
    try {
      const late = await put(version.state, bytes);
      expect([late.status, await late.text()]).toEqual([403, expect.stringContaining('expired')]);
      const fresh = pathOf((await show(version.id))['hosted-state-upload-url']);
      expect((await put(fresh, bytes)).status).toBe(200);
    } finally {
      clock.offsetMs = 0;
    }
  });

  it('is accepted only if the creator of the version still has access when the file arrives', async () => {
    const team = await makeTeam(server, 'acme', 'uploaders');
    const { id: workspace } = (
      await server.post('/api/v2/organizations/acme/workspaces', resource('workspaces', { name: 'taken-away' }))
    ).body.data as { id: string };
    const access = await grantWorkspaceAccess(server, team, workspace, 'write');
    const maker = await makeMember(server, 'acme', 'maker', [team]);
    expectStatus(await maker.post(`/api/v2/workspaces/${workspace}/actions/lock`), 200);
    const bytes = createStateFile();
    const created = expectStatus(await postState(maker, workspace, {}, bytes), 201).body.data;
    const links = (['hosted-state-upload-url', 'hosted-json-state-upload-url'] as const).map((name) =>
      pathOf(created.attributes[name]),
    );
    const [state = '', json = ''] = links;
    const setAccess = (level: string): Promise<ApiResponse> =>
      server.patch(`/api/v2/team-workspaces/${access}`, resource('team-workspaces', { access: level }));
    expectStatus(await setAccess('read'), 200);
    for (const [path, body] of [
      [state, bytes],
      [json, JSON_STATE],
    ] as const) {
      const refused = await put(path, body);
      expect([refused.status, await refused.text()]).toEqual([
        403,
        expect.stringContaining('The creator of this state version may not create state in the workspace any more'),
      ]);
    }
    expect(await files.has(created.id as string, 'state')).toBe(false);
    expect(await files.has(created.id as string, 'json-state')).toBe(false);
    expectStatus(await setAccess('write'), 200);
    expect((await put(json, JSON_STATE)).status).toBe(200);
    expect((await put(state, bytes)).status).toBe(200);
    expect((await show(created.id as string)).status).toBe('finalized');
  });

  it('returns 404 if the version is deleted', async () => {
    const bytes = createStateFile();
    const version = await pendingVersion(bytes);
    await server.delete(`/api/v2/workspaces/${version.workspace}`);
    expect((await put(version.state, bytes)).status).toBe(404);
    expect((await put(version.json, JSON_STATE)).status).toBe(404);
    expect(await files.has(version.id, 'state')).toBe(false);
  });

  it('returns 404 if a newer version has replaced the version, and nothing is stored', async () => {
    const version = await pendingVersion(createStateFile());
    const newer = createStateFile({ serial: 2 });
    expect((await postState(server, version.workspace, { serial: 2 }, newer)).status).toBe(201);
    expect((await put(version.state, createStateFile())).status).toBe(404);
    expect(await files.has(version.id, 'state')).toBe(false);
  });
});

describe('stored state files', () => {
  it('are encrypted', async () => {
    const bytes = createStateFile({ outputs: { secret: { value: 'hunter2', type: 'string', sensitive: true } } });
    const version = await pendingVersion(bytes);
    expect((await put(version.state, bytes)).status).toBe(200);
    const stored = await readFile(join(server.runtime.settings.blobsFolder, 'state-versions', version.id, 'state'));
    expect(stored.includes('hunter2')).toBe(false);
    expect(stored.includes('terraform_version')).toBe(false);
  });

  it('are removed if the version is refused', async () => {
    const workspace = await createLockedWorkspace(server);
    await unlock(server, workspace);
    const folder = join(server.runtime.settings.blobsFolder, 'state-versions');
    const filesIn = async (): Promise<number> =>
      (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile()).length;
    const before = await filesIn();
    const bytes = createStateFile();
    expect((await postState(server, workspace, { state: bytes.toString('base64') }, bytes)).status).toBe(409);
    expect(await filesIn()).toBe(before);
  });

  it('can have many megabytes and are downloaded unchanged', async () => {
    const bytes = createStateFile({ outputs: { big: { value: 'y'.repeat(20_000_000), type: 'string' } } });
    const version = await pendingVersion(bytes);
    expect((await put(version.state, bytes)).status).toBe(200);
    const answer = await server.get(`/api/v2/state-versions/${version.id}/download`);
    expect(md5Of(Buffer.from(answer.text))).toBe(md5Of(bytes));
  });
});
