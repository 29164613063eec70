import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { EncryptedBlobs } from '#storage/blob-store';
import { waitForFollowers } from '../../../../test/support/event-log.js';
import { AdjustableClock } from '../../../../test/support/clocks.js';
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
import { waitUntil } from '../../../../test/support/product.js';
import { pathOf } from '../../../../test/support/state-file.js';
import { costOf } from '../../../../test/support/cost.js';
import {
  startTestServer,
  type ApiResponse,
  type ApiTestClient,
  type TestServer,
} from '../../../../test/support/server.js';
import { expectViewsMatchLog } from '../../../../test/support/views-match-log.js';
import { ConfigurationFiles } from './configuration-version.files.js';
import { runsDefinition } from '../index.js';
import { listStoredEntries } from '../../../activity/audit-trail/spec.js';

const SWEEPER = 'configuration_sweeper';
const TYPE = 'configuration-versions';
/** The server does not read the contents of the archive, so any gzip file will do. */
const ARCHIVE = gzipSync('main.tf');
const OTHER_ARCHIVE = gzipSync('another main.tf');

const clock = new AdjustableClock();
let server: TestServer;
let files: ConfigurationFiles;

beforeAll(async () => {
  server = await startTestServer({ clock, followers: true });
  await makeOrganization(server, 'acme');
  files = new ConfigurationFiles(new EncryptedBlobs(server.runtime.blobs, server.runtime.encryptionKeys));
});

afterAll(() => server.close());

let workspaces = 0;
const aWorkspace = (): Promise<string> => makeWorkspace(server, 'acme', `ws-${(workspaces += 1)}`);

const post = (workspace: string, attributes: object = {}, api: ApiTestClient = server): Promise<ApiResponse> =>
  api.post(
    `/api/v2/workspaces/${workspace}/configuration-versions`,
    resource(TYPE, { 'auto-queue-runs': false, ...attributes }),
  );

type CreatedVersion = { readonly id: string; readonly workspace: string; readonly link: string };

const pending = async (attributes: object = {}, of?: string): Promise<CreatedVersion> => {
  const workspace = of ?? (await aWorkspace());
  const created = await post(workspace, attributes);
  expect([created.status, created.text]).toEqual([201, expect.any(String)]);
  const { data } = created.body;
  return { id: data.id as string, workspace, link: pathOf(data.attributes['upload-url'] as string) };
};

const put = (path: string, body: Uint8Array, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
  fetch(`${server.url}${path}`, { method: 'PUT', body: body as unknown as string, headers });

const uploaded = async (attributes: object = {}, of?: string): Promise<CreatedVersion> => {
  const pendingVersion = await pending(attributes, of);
  expect((await put(pendingVersion.link, ARCHIVE)).status).toBe(200);
  return pendingVersion;
};

const show = async (id: string): Promise<ApiResponse['body']> => (await server.get(`/api/v2/${TYPE}/${id}`)).body.data;

/** Returns the path of the signed link to which a download redirects. */
const addressOf = async (path: string): Promise<string> => {
  const headers = { authorization: `Bearer ${server.adminToken}` };
  const redirect = await fetch(`${server.url}${path}`, { headers, redirect: 'manual' });
  expect(redirect.status).toBe(302);
  return pathOf(redirect.headers.get('location') ?? '');
};

const bytesAt = async (path: string): Promise<Buffer> =>
  Buffer.from(await (await fetch(`${server.url}${path}`)).arrayBuffer());

/** Creates a run that uses the current configuration version. */
const makeRun = async (workspace: string): Promise<string> => {
  const relationships = { workspace: { data: { type: 'workspaces', id: workspace } } };
  const created = await server.post('/api/v2/runs', { data: { type: 'runs', attributes: {}, relationships } });
  return expectStatus(created, 201).body.data.id as string;
};

const act = (id: string, action: string, api: ApiTestClient = server): Promise<ApiResponse> =>
  api.post(`/api/v2/${TYPE}/${id}/actions/${action}`);

const currentOf = async (workspace: string): Promise<string | null> => {
  const { body } = await server.get(`/api/v2/workspaces/${workspace}`);
  return (body.data.relationships['current-configuration-version'].data?.id ?? null) as string | null;
};

describe('a configuration version', () => {
  it('is created as pending, with an absolute upload URL that only the creation shows', async () => {
    const workspace = await aWorkspace();
    const created = await post(workspace, { speculative: true });
    expect(created.status).toBe(201);
    const { id, attributes } = created.body.data;
    expect(id).toMatch(/^cv-[A-Za-z0-9]{16}$/);
    expect(attributes['upload-url']).toMatch(/^https?:\/\/[^/]+\/api\/v2\/configuration-versions\/upload\//);
    const shownLater = await show(id as string);
    expect(shownLater).toEqual({
      id,
      type: TYPE,
      attributes: {
        'auto-queue-runs': false,
        'created-at': expect.stringMatching(/Z$/),
        error: null,
        'error-message': null,
        provisional: false,
        source: 'tfe-api',
        speculative: true,
        status: 'pending',
        'status-timestamps': {},
        'upload-url': null,
      },
      relationships: {
        'ingress-attributes': { data: null, links: { related: `/api/v2/${TYPE}/${id}/ingress-attributes` } },
      },
      links: { self: `/api/v2/${TYPE}/${id}` },
    });
    expect((await server.get(`/api/v2/${TYPE}/${id}?include=ingress_attributes,run`)).body.included).toEqual([]);
    expect((await server.get(`/api/v2/${TYPE}/${id}?include=plan`)).status).toBe(400);
    expect((await server.get(`/api/v2/${TYPE}/${id}/ingress-attributes`)).status).toBe(404);
    expect((await server.get(`/api/v2/${TYPE}/cv-none`)).status).toBe(404);
  });

  it('queues runs by default, and is created without a request body', async () => {
    const path = `/api/v2/workspaces/${await aWorkspace()}/configuration-versions`;
    for (const body of [undefined, {}, { data: {} }, { data: { type: '', attributes: { 'auto-queue-runs': null } } }]) {
      const { status, body: created } = await server.post(path, body);
      expect([status, created.data.attributes]).toEqual([
        201,
        expect.objectContaining({ 'auto-queue-runs': true, speculative: false, provisional: false }),
      ]);
    }
    for (const body of [resource('runs'), resource(TYPE, { speculative: 'yes' }), { data: [] }]) {
      expect((await server.post(path, body)).status).toBe(422);
    }
  });

  it('is listed with the others of its workspace, newest first, in pages', async () => {
    const workspace = await aWorkspace();
    const ids: string[] = [];
    for (let n = 0; n < 3; n += 1) {
      // The list orders by whole milliseconds.
      clock.pass({ ms: 1 });
      ids.unshift((await pending({}, workspace)).id);
    }
    await pending();
    const path = `/api/v2/workspaces/${workspace}/configuration-versions`;
    const page = async (query = '') => (await server.get(`${path}${query}`)).body;
    const idsOf = ({ data }: { data: { id: string }[] }): string[] => data.map(({ id }) => id);
    expect(idsOf(await page())).toEqual(ids);
    const second = await page('?page[size]=2&page[number]=2');
    expect([idsOf(second), second.meta.pagination['total-count']]).toEqual([ids.slice(2), 3]);
    expect((await page('?include=ingress_attributes')).included).toEqual([]);
    expect(idsOf(await page('?page[number]=9'))).toEqual([]);
    expect((await server.get('/api/v2/workspaces/ws-none/configuration-versions')).status).toBe(404);
  });
});

describe('uploading an archive', () => {
  it('needs no token and no media type, and a download returns the same bytes through a redirect', async () => {
    const { id, link } = await pending();
    expect((await put(link, ARCHIVE, { authorization: 'Bearer nonsense', 'content-type': 'text/plain' })).status).toBe(
      200,
    );
    const version = await show(id);
    expect(version).toMatchObject({
      attributes: { status: 'uploaded', 'status-timestamps': { 'uploaded-at': expect.stringMatching(/Z$/) } },
      links: { download: `/api/v2/${TYPE}/${id}/download` },
    });
    const answer = await fetch(`${server.url}${await addressOf(version.links.download as string)}`);
    expect([answer.status, answer.headers.get('content-type'), answer.headers.get('content-length')]).toEqual([
      200,
      'application/octet-stream',
      String(ARCHIVE.length),
    ]);
    expect(Buffer.from(await answer.arrayBuffer()).equals(ARCHIVE)).toBe(true);
  });

  it('replaces the archive and deletes the old one, while no run uses the version', async () => {
    const { id, link, workspace } = await uploaded();
    const before = await addressOf(`/api/v2/${TYPE}/${id}/download`);
    clock.pass({ ms: 1 });
    const first = await show(id);
    expect((await put(link, OTHER_ARCHIVE)).status).toBe(200);
    expect((await show(id)).attributes).not.toEqual(first.attributes);
    await waitForFollowers(server.store, SWEEPER);
    expect([await files.size(id, 1), await files.size(id, 2)]).toEqual([null, OTHER_ARCHIVE.length]);
    for (const path of [before, await addressOf(`/api/v2/${TYPE}/${id}/download`)]) {
      expect(await bytesAt(path)).toEqual(OTHER_ARCHIVE);
    }
    const refused = await put(link, Buffer.from('no archive'));
    expect([refused.status, await refused.text()]).toEqual([422, expect.stringContaining('not a gzip archive')]);
    expect((await show(id)).attributes.status).toBe('uploaded');
    await server.delete(`/api/v2/workspaces/${workspace}`);
    await waitForFollowers(server.store, SWEEPER);
    expect(await files.size(id, 2)).toBeNull();
  });

  it('refuses another archive once a run used the version, even if the run has ended', async () => {
    const { id, link, workspace } = await uploaded();
    const run = await makeRun(workspace);
    for (const body of [OTHER_ARCHIVE, Buffer.from('no archive'), Buffer.alloc(0)]) {
      const refused = await put(link, body);
      expect([refused.status, await refused.text()]).toEqual([409, expect.stringContaining('A run uses the archive')]);
    }
    expectStatus(await server.post(`/api/v2/runs/${run}/actions/cancel`), 202);
    expect((await put(link, OTHER_ARCHIVE)).status).toBe(409);
    expect((await put(link, ARCHIVE)).status).toBe(200);
    expect(await bytesAt(await addressOf(`/api/v2/${TYPE}/${id}/download`))).toEqual(ARCHIVE);
  });

  it('keeps the archive of a run that is created during the upload of another archive', async () => {
    const { id, link, workspace } = await uploaded();
    const late = httpRequest(`${server.url}${link}`, {
      method: 'PUT',
      headers: { 'content-length': OTHER_ARCHIVE.length },
    });
    const status = new Promise((resolve, reject) => {
      late.on('response', (response) => resolve(response.resume().statusCode));
      late.on('error', reject);
    });
    const drafts = join(server.runtime.settings.blobsFolder, '.drafts');
    late.write(OTHER_ARCHIVE.subarray(0, 10));
    await waitUntil(async () => (await readdir(drafts)).length > 0, 'the upload has begun');
    await makeRun(workspace);
    late.end(OTHER_ARCHIVE.subarray(10));
    expect(await status).toBe(409);
    expect(await bytesAt(await addressOf(`/api/v2/${TYPE}/${id}/download`))).toEqual(ARCHIVE);
  });

  it('stores eight archives of a version at most', async () => {
    const { link } = await pending();
    const contents = Array.from({ length: 9 }, (_, n) => gzipSync(`archive ${n}`));
    const statuses: number[] = [];
    for (const content of contents) statuses.push((await put(link, content)).status);
    expect(statuses).toEqual([...contents.slice(1).map(() => 200), 409]);
    expect((await put(link, contents[7] ?? ARCHIVE)).status).toBe(200);
  });

  it('appends one event for many equal uploads at the same time', async () => {
    const { id, link } = await pending();
    const answers = await Promise.all(Array.from({ length: 10 }, () => put(link, ARCHIVE)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const uploadEvents = await server.database.row<{ n: number }>(sql`
      select count(*) as n from event_store.events where stream = ${id} and type = 'ConfigurationVersionUploaded'`);
    expect(uploadEvents?.n).toBe(1);
  });

  it.each([
    ['something else', Buffer.from('PK\u0003\u0004 a zip')],
    ['the beginning of a gzip', ARCHIVE.subarray(0, 1)],
    ['nothing', Buffer.alloc(0)],
  ])('of %s is refused, and the version is errored', async (_name, body) => {
    const { id, link } = await pending();
    const refused = await put(link, body);
    expect([refused.status, await refused.text()]).toEqual([422, expect.stringContaining('not a gzip archive')]);
    expect((await show(id)).attributes).toMatchObject({
      status: 'errored',
      error: 'invalid-archive',
      'error-message': 'The upload is not a gzip archive',
    });
    expect(await files.size(id, 1)).toBeNull();
    expect((await put(link, ARCHIVE)).status).toBe(409);
    expect((await server.get(`/api/v2/${TYPE}/${id}/download`)).status).toBe(404);
  });

  it('leaves nothing behind if it is interrupted, and works when it is repeated', async () => {
    const { id, link } = await pending();
    const large = gzipSync(Buffer.from(Array.from({ length: 3_000_000 }, (_, n) => (n * 7919) % 251)), { level: 0 });
    await new Promise<void>((resolve) => {
      const headers = { 'content-length': large.length };
      const half = httpRequest(`${server.url}${link}`, { method: 'PUT', headers });
      half.on('error', () => resolve());
      half.on('close', () => resolve());
      half.write(large.subarray(0, 1_000_000), () => half.destroy());
    });
    const drafts = join(server.runtime.settings.blobsFolder, '.drafts');
    await waitUntil(async () => (await readdir(drafts)).length === 0, 'the draft is gone');
    expect((await show(id)).attributes.status).toBe('pending');
    expect((await put(link, large)).status).toBe(200);
    const { content } = (await files.get(id, 1)) ?? {};
    const stored = createHash('sha256');
    for await (const piece of content ?? []) stored.update(piece as Buffer);
    expect(stored.digest('hex')).toBe(createHash('sha256').update(large).digest('hex'));
  });

  it('continues with the file of a process that was killed before its event', async () => {
    const { id, link } = await pending();
    await files.put(id, 1, ARCHIVE);
    expect((await server.get(`/api/v2/${TYPE}/${id}/download`)).status).toBe(404);
    expect((await put(link, ARCHIVE)).status).toBe(200);
    expect((await show(id)).attributes.status).toBe('uploaded');
  });

  it('stores its own content after an interrupted upload of other content', async () => {
    const { id, link } = await pending();
    await files.put(id, 1, gzipSync('of somebody else'));
    expect((await put(link, ARCHIVE)).status).toBe(200);
    expect((await put(link, ARCHIVE)).status).toBe(200);
    expect(await bytesAt(await addressOf(`/api/v2/${TYPE}/${id}/download`))).toEqual(ARCHIVE);
  });

  it('is forbidden with a link that is forged, has another purpose, or is older than a day', async () => {
    const { id, link } = await pending();
    await uploaded();
    const otherVersion = await uploaded();
    const download = await addressOf(`/api/v2/${TYPE}/${otherVersion.id}/download`);
    for (const path of [`${link}A`, download.replace('/download/', '/upload/'), `/api/v2/${TYPE}/upload/x`]) {
      expect((await put(path, ARCHIVE)).status).toBe(403);
    }
    expect((await server.get(link.replace('/upload/', '/download/'))).status).toBe(403);
    const before = clock.offsetMs;
    clock.pass({ days: 1 });
    try {
      expect((await put(link, ARCHIVE)).status).toBe(403);
      expect((await server.get(download)).status).toBe(403);
    } finally {
      clock.offsetMs = before;
    }
    expect((await show(id)).attributes.status).toBe('pending');
  });

  it('returns 404 and leaves nothing behind if the workspace was deleted', async () => {
    const { id, link, workspace } = await pending();
    await server.delete(`/api/v2/workspaces/${workspace}`);
    expect((await put(link, ARCHIVE)).status).toBe(404);
    expect(await files.size(id, 1)).toBeNull();
  });

  it('stores archives encrypted', async () => {
    const { id } = await uploaded();
    const stored = await readFile(join(server.runtime.settings.blobsFolder, TYPE, id, 'archive'));
    expect(stored.includes(ARCHIVE)).toBe(false);
  });
});

describe('the current configuration version of a workspace', () => {
  it('is the one that was created last, unless it is speculative or provisional', async () => {
    const workspace = await aWorkspace();
    expect(await currentOf(workspace)).toBeNull();
    const first = await pending({}, workspace);
    expect(await currentOf(workspace)).toBe(first.id);
    clock.pass({ ms: 1 });
    await uploaded({ speculative: true }, workspace);
    await uploaded({ provisional: true }, workspace);
    expect(await currentOf(workspace)).toBe(first.id);
    clock.pass({ ms: 1 });
    const second = await pending({}, workspace);
    expect(await currentOf(workspace)).toBe(second.id);
    expect((await put(first.link, ARCHIVE)).status).toBe(200);
    expect(await currentOf(workspace)).toBe(second.id);
    for (const include of ['current_configuration_version', 'current-configuration-version.ingress-attributes']) {
      const answer = await server.get(`/api/v2/workspaces/${workspace}?include=${include}`);
      expect(expectStatus(answer, 200).body.included).toEqual([await show(second.id)]);
    }
  });
});

describe('the run that starts with an upload', () => {
  const runsOf = async (workspace: string): Promise<ApiResponse['body'][]> =>
    (await server.get(`/api/v2/workspaces/${workspace}/runs`)).body.data;

  it('uses the version, and was created by the creator of the version', async () => {
    const { id, workspace, link } = await pending({ 'auto-queue-runs': true });
    expect(await runsOf(workspace)).toEqual([]);
    expect((await put(link, ARCHIVE)).status).toBe(200);
    const [run, ...otherRuns] = await runsOf(workspace);
    expect(otherRuns).toEqual([]);
    expect(run).toMatchObject({
      attributes: { source: 'tfe-configuration-version', 'plan-only': false, 'auto-apply': false },
      relationships: { 'configuration-version': { data: { id } }, 'created-by': { data: { type: 'users' } } },
    });
    // A repeated upload starts no second run.
    expect((await put(link, ARCHIVE)).status).toBe(200);
    expect(await runsOf(workspace)).toHaveLength(1);
    const configurationOfRun = await server.get(`/api/v2/runs/${run.id}/configuration-version`);
    expect(configurationOfRun.body.data).toEqual(await show(id));
    const answer = await server.get(await addressOf(`/api/v2/runs/${run.id}/configuration-version/download`));
    expect(answer.status).toBe(200);
  });

  it('only plans if the version is speculative, and is applied automatically if the workspace says so', async () => {
    const workspace = await makeWorkspace(server, 'acme', 'unasked', { 'auto-apply': true });
    for (const speculative of [true, false]) {
      await uploaded({ 'auto-queue-runs': true, speculative }, workspace);
      const runs = await runsOf(workspace);
      expect(runs.filter(({ attributes }) => attributes['plan-only'] === speculative)).toHaveLength(1);
    }
    const applied = (await runsOf(workspace)).find(({ attributes }) => !attributes['plan-only']);
    expect(applied.attributes['auto-apply']).toBe(true);
  });

  it('depends on the creator’s permissions at the time of the upload', async () => {
    const workspace = await makeWorkspace(server, 'acme', 'taken-away', { 'auto-apply': true });
    const team = await makeTeam(server, 'acme', 'makers');
    const access = await grantWorkspaceAccess(server, team, workspace, 'write');
    const maker = await makeMember(server, 'acme', 'maker', [team]);
    const versions = [
      await post(workspace, { 'auto-queue-runs': true }, maker),
      await post(workspace, { 'auto-queue-runs': true }, maker),
    ];
    const [first = '', second = ''] = versions.map(({ body }) => pathOf(body.data.attributes['upload-url'] as string));
    const less = resource('team-workspaces', { access: 'plan' });
    expectStatus(await server.patch(`/api/v2/team-workspaces/${access}`, less), 200);
    expect((await put(first, ARCHIVE)).status).toBe(200);
    const startedRuns = await runsOf(workspace);
    expect(startedRuns.map(({ attributes }) => attributes['auto-apply'])).toEqual([false]);
    expectStatus(await server.delete(`/api/v2/organization-memberships/${maker.membership}`), 204);
    const refused = await put(second, ARCHIVE);
    expect([refused.status, await refused.text()]).toEqual([
      403,
      expect.stringContaining(
        'The creator of this configuration version may not create configuration versions any more',
      ),
    ]);
    expect((await show(versions[1]?.body.data.id as string)).attributes.status).toBe('pending');
    expect((await runsOf(workspace)).map(({ id }) => id)).toEqual(startedRuns.map(({ id }) => id));
  });

  it('does not start if the version or the workspace’s execution mode rules it out', async () => {
    const { workspace } = await uploaded({ 'auto-queue-runs': false });
    const local = await makeWorkspace(server, 'acme', 'local', { 'execution-mode': 'local' });
    await uploaded({ 'auto-queue-runs': true }, local);
    for (const id of [workspace, local]) expect(await runsOf(id)).toEqual([]);
  });

  it('prevents archiving and deletion of its configuration until it has ended', async () => {
    const { id, workspace } = await uploaded({ 'auto-queue-runs': true });
    clock.pass({ ms: 1 });
    await uploaded({}, workspace);
    const archived = await act(id, 'archive');
    expect([archived.status, archived.body.errors[0].detail]).toEqual([
      409,
      expect.stringContaining('run in progress'),
    ]);
    expect((await act(id, 'soft_delete_backing_data')).status).toBe(400);
    const [run] = (await runsOf(workspace)).filter(
      ({ relationships }) => relationships['configuration-version'].data.id === id,
    );
    expect((await server.post(`/api/v2/runs/${run.id}/actions/cancel`)).status).toBe(202);
    expect((await act(id, 'archive')).status).toBe(202);
  });
});

/** Creates an uploaded version and a newer one, so that the first can be archived. */
const superseded = async (): Promise<CreatedVersion> => {
  const older = await uploaded();
  clock.pass({ ms: 1 });
  await pending({}, older.workspace);
  return older;
};

describe('archiving', () => {
  it('returns no content, and removes the archive', async () => {
    const { id, link } = await superseded();
    const answer = await act(id, 'archive');
    expect([answer.status, answer.text]).toEqual([202, '']);
    expect((await show(id)).attributes).toMatchObject({
      status: 'archived',
      'status-timestamps': { 'archived-at': expect.stringMatching(/Z$/) },
    });
    expect((await server.get(`/api/v2/${TYPE}/${id}/download`)).status).toBe(404);
    expect((await put(link, ARCHIVE)).status).toBe(404);
    expect((await act(id, 'archive')).status).toBe(409);
    await waitForFollowers(server.store, SWEEPER);
    expect(await files.size(id, 1)).toBeNull();
  });

  it('returns 409 if there is no archive', async () => {
    const { id } = await pending();
    expect((await act(id, 'archive')).status).toBe(409);
    expect((await act('cv-none', 'archive')).status).toBe(404);
  });

  it('is refused for the current version of the workspace', async () => {
    const { id } = await uploaded();
    const refused = await act(id, 'archive');
    expect([refused.status, refused.body.errors[0].detail]).toEqual([
      409,
      'transition not allowed: configuration could not be archived because it is current',
    ]);
    expect((await show(id)).attributes.status).toBe('uploaded');
  });

  it('invalidates links that were issued before', async () => {
    const { id } = await superseded();
    const address = await addressOf(`/api/v2/${TYPE}/${id}/download`);
    await act(id, 'archive');
    expect((await server.get(address)).status).toBe(404);
  });
});

describe('deleting the data of a version', () => {
  it('is reversible after the soft deletion, and removes the archive with the permanent deletion', async () => {
    const workspace = await aWorkspace();
    const old = await uploaded({}, workspace);
    expect((await act(old.id, 'soft_delete_backing_data')).status).toBe(400);
    clock.pass({ ms: 1 });
    await uploaded({}, workspace);
    const before = await show(old.id);
    const soft = await act(old.id, 'soft_delete_backing_data');
    expect([soft.status, soft.body.data.attributes.status]).toEqual([200, 'backing_data_soft_deleted']);
    expect((await server.get(`/api/v2/${TYPE}/${old.id}/download`)).status).toBe(404);
    const restored = await act(old.id, 'restore_backing_data');
    expect([restored.status, restored.body.data.attributes.status, restored.body.data.links]).toEqual([
      200,
      'uploaded',
      before.links,
    ]);
    expect((await act(old.id, 'permanently_delete_backing_data')).status).toBe(400);
    await act(old.id, 'soft_delete_backing_data');
    const permanentDeletion = await act(old.id, 'permanently_delete_backing_data');
    expect([permanentDeletion.status, permanentDeletion.body.data.attributes.status]).toEqual([
      200,
      'backing_data_permanently_deleted',
    ]);
    const late = await act(old.id, 'restore_backing_data');
    expect([late.status, late.body.errors[0].detail]).toEqual([400, expect.stringContaining('transition not allowed')]);
    await waitForFollowers(server.store, SWEEPER);
    expect(await files.size(old.id, 1)).toBeNull();
  });
});

describe('access to configuration versions', () => {
  it('follows the permission table: an organization token reads and creates none, strangers get 404', async () => {
    const { id, workspace } = await uploaded();
    await makeOrganization(server, 'elsewhere');
    const [token, stranger] = [
      server.as(await makeOrganizationToken(server, 'acme')),
      server.as(await makeOrganizationToken(server, 'elsewhere')),
    ];
    for (const path of [`${TYPE}/${id}`, `workspaces/${workspace}/configuration-versions`]) {
      expect([path, (await stranger.get(`/api/v2/${path}`)).status]).toEqual([path, 404]);
      expect([path, (await server.as(null).get(`/api/v2/${path}`)).status]).toEqual([path, 401]);
      expect([path, (await token.get(`/api/v2/${path}`)).status]).toEqual([path, 200]);
    }
    for (const path of ['download', 'ingress-attributes']) {
      expect((await stranger.get(`/api/v2/${TYPE}/${id}/${path}`)).status).toBe(404);
    }
    for (const api of [token, stranger]) {
      expect((await post(workspace, {}, api)).status).toBe(404);
      for (const action of [
        'archive',
        ...['soft_delete', 'restore', 'permanently_delete'].map((a) => `${a}_backing_data`),
      ]) {
        expect((await act(id, action, api)).status).toBe(404);
      }
    }
    expect((await show(id)).attributes.status).toBe('uploaded');
  });
});

describe('the log and the views of configuration versions', () => {
  it('agree, and lose what was deleted together with its archives', async () => {
    await makeOrganization(server, 'brief');
    const inBrief = await uploaded({}, await makeWorkspace(server, 'brief', 'one'));
    const deletedVersion = await uploaded();
    const stays = await uploaded();
    await server.delete(`/api/v2/workspaces/${deletedVersion.workspace}`);
    await server.delete('/api/v2/organizations/brief');
    for (const { id } of [inBrief, deletedVersion])
      expect((await server.get(`/api/v2/${TYPE}/${id}`)).status).toBe(404);
    await waitForFollowers(server.store, SWEEPER);
    expect(await Promise.all([inBrief, deletedVersion, stays].map(({ id }) => files.size(id, 1)))).toEqual([
      null,
      null,
      ARCHIVE.length,
    ]);
    await expectViewsMatchLog(server, [runsDefinition]);
  });

  it('record the actions on a version', async () => {
    const { id, link } = await superseded();
    expect((await put(link, OTHER_ARCHIVE)).status).toBe(200);
    await act(id, 'archive');
    await waitForFollowers(server.store, 'audit_trail');
    const entries = await listStoredEntries(server.database, sql`e.resource_id = ${id}`);
    expect(entries.map((entry) => entry.resource)).toMatchObject(
      ['create', 'replace_archive', 'archive'].map((action) => ({ type: 'configuration_version', action })),
    );
  });

  it('cost one statement for a read, and two round trips for a creation', async () => {
    const { id, workspace } = await uploaded();
    const trips = async (request: () => Promise<ApiResponse>): Promise<number> =>
      (await costOf(server, request)).roundTrips;
    expect(await trips(() => server.get(`/api/v2/${TYPE}/${id}`))).toBe(1);
    expect(await trips(() => server.get(`/api/v2/workspaces/${workspace}/configuration-versions`))).toBe(1);
    expect(await trips(() => post(workspace))).toBe(2);
  });
});
