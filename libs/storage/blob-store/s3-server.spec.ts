import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { request } from 'node:http';
import { startS3, type TestS3 } from '../../../test/support/s3/index.js';
import { waitUntil } from '../../../test/support/product.js';
import { expectStatus, makeOrganization, makeWorkspace } from '../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../test/support/server.js';
import { newStateVersion, pathOf, stateFile, type TestStateFile } from '../../../test/support/state-file.js';
import { iterateChunks } from './spec.js';

const PREFIX = 'acme/cadastre';
const LINEAGE = '3c8a1b0e-5d7c-0f5e-9a51-6f5f1f0e7c11';

let s3: TestS3;
let server: TestServer;
let workspace: string;

beforeAll(async () => {
  s3 = await startS3();
  Object.assign(process.env, s3.credentials);
  server = await startTestServer({
    env: {
      CADASTRE_S3_BUCKET: s3.bucket,
      CADASTRE_S3_ENDPOINT: s3.endpoint,
      CADASTRE_S3_PREFIX: PREFIX,
      CADASTRE_S3_PATH_STYLE: 'true',
      CADASTRE_RECOVERABLE_DAYS: '0',
    },
    followers: true,
  });
  await makeOrganization(server, 'acme');
  workspace = await makeWorkspace(server, 'acme', 'states');
  expectStatus(await server.post(`/api/v2/workspaces/${workspace}/actions/lock`, {}), 200);
});

afterAll(async () => {
  await server.close();
  await s3.stop();
});

const announce = async (state: TestStateFile): Promise<{ id: string; upload: string }> => {
  const announced = expectStatus(
    await server.post(`/api/v2/workspaces/${workspace}/state-versions`, newStateVersion(state, { inline: false })),
    201,
  );
  const { id, attributes } = announced.body.data;
  return { id: id as string, upload: pathOf(attributes['hosted-state-upload-url']) };
};

const put = (path: string, bytes: Buffer) =>
  fetch(`${server.url}${path}`, { method: 'PUT', body: bytes as unknown as string });

/** Reads the stored bytes without decryption, so that a plaintext secret would be visible. */
const objectOf = async (key: string): Promise<Buffer> => {
  const { Body } = await s3.client.getObject({ Bucket: s3.bucket, Key: key });
  return Buffer.from((await Body?.transformToByteArray()) ?? []);
};

describe('a server with files in S3', () => {
  it('stores states encrypted, and returns them', async () => {
    const state = stateFile({
      serial: 1,
      lineage: LINEAGE,
      outputs: { a: { value: 'hunter2', type: 'string', sensitive: true } },
    });
    const { id, upload } = await announce(state);
    expect((await put(upload, state.bytes)).status).toBe(200);
    const keys = ['blocks', 'outputs', 'resources', 'state'].map((file) => `${PREFIX}/state-versions/${id}/${file}`);
    expect(await s3.listKeys(PREFIX)).toEqual(keys);
    for (const key of keys) expect((await objectOf(key)).includes('hunter2')).toBe(false);
    expect((await server.get(`/api/v2/state-versions/${id}/download`)).text).toBe(state.bytes.toString());
  });

  it('leaves nothing of an upload if the client disconnects in the middle', async () => {
    const { id, upload } = await announce(stateFile({ serial: 2, lineage: LINEAGE }));
    const before = await s3.listKeys(PREFIX);
    const half = request(`${server.url}${upload}`, { method: 'PUT', headers: { 'content-length': 50_000_000 } });
    half.on('error', () => undefined);
    for await (const piece of iterateChunks(1_200, 10_000)) half.write(piece);
    // Content that is larger than a part is sent to the store before the upload is complete.
    await waitUntil(async () => (await s3.listKeys(PREFIX)).length > before.length, 'parts are with the store');
    half.destroy();
    await waitUntil(async () => (await s3.listKeys(PREFIX)).length === before.length, 'they are gone');
    expect(await s3.listKeys(PREFIX)).toEqual(before);
    expect((await server.get(`/api/v2/state-versions/${id}`)).body.data.attributes.status).toBe('pending');
  });

  it('returns 503 with Retry-After while the store is down', async () => {
    const state = stateFile({ serial: 3, lineage: LINEAGE });
    const { id, upload } = await announce(state);
    await s3.kill();
    const refused = await put(upload, state.bytes);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await refused.json()).toMatchObject({ errors: [{ status: '503', title: 'unavailable' }] });
    await s3.restart();
    expect((await put(upload, state.bytes)).status).toBe(200);
    await s3.kill();
    const download = await server.get(`/api/v2/state-versions/${id}/download`);
    expect([download.status, download.headers.get('retry-after')]).toEqual([503, '1']);
    await s3.restart();
    expect((await server.get(`/api/v2/state-versions/${id}/download`)).text).toBe(state.bytes.toString());
  });

  it('removes the files of a deleted workspace when the store is available again', async () => {
    await s3.kill();
    expectStatus(await server.post(`/api/v2/workspaces/${workspace}/actions/unlock`, {}), 200);
    expectStatus(await server.delete(`/api/v2/workspaces/${workspace}`), 204);
    await s3.restart();
    await waitUntil(async () => (await s3.listKeys(PREFIX)).length === 0, 'the files of the workspace are gone');
    expect(await s3.listKeys(PREFIX)).toEqual([]);
  });
});
