import { mkdir, watch } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it } from '@jest/globals';
import { launchProduct, type Product } from '../support/product.js';
import { expectStatus, makeOrganization, makeWorkspace } from '../support/seeds.js';
import { createApiTestClient, type ApiTestClient } from '../support/server.js';
import { newStateVersion, pathOf, stateFile, type TestStateFile } from '../support/state-file.js';

/** Number of files of the upload that are stored when the process is killed: the state, then its two extracts. */
const KILLED_AFTER = [1, 2, 3];

let product: Product;

afterEach(() => product?.remove());

/** Resolves when the store has this number of files of the version. */
const stored = async (id: string, files: number, listening: () => void): Promise<void> => {
  const folder = join(product.dataFolder, 'blobs/state-versions', id);
  await mkdir(folder, { recursive: true });
  const names = new Set<string | null>();
  const changes = watch(folder);
  listening();
  for await (const { eventType, filename } of changes) {
    if (eventType === 'rename') names.add(filename);
    if (names.size === files) return;
  }
};

type Pending = { readonly id: string; readonly upload: string; readonly state: TestStateFile };

const announce = async (api: ApiTestClient, name: string): Promise<Pending> => {
  const workspace = await makeWorkspace(api, 'acme', name);
  const path = `/api/v2/workspaces/${workspace}`;
  expectStatus(await api.post(`${path}/actions/lock`, {}), 200);
  const state = stateFile({
    outputs: { zone: { value: name, type: 'string' } },
    names: Array.from({ length: 200 }, (_, n) => `r${n}`),
  });
  const { body } = expectStatus(
    await api.post(`${path}/state-versions`, newStateVersion(state, { inline: false })),
    201,
  );
  return { id: body.data.id, upload: pathOf(body.data.attributes['hosted-state-upload-url']), state };
};

/** Returns the status of the response, or null if the connection broke. */
const put = async ({ upload, state }: Pending): Promise<number | null> => {
  try {
    const { status } = await fetch(`${product.url}${upload}`, {
      method: 'PUT',
      body: state.bytes as Uint8Array<ArrayBuffer>,
    });
    return status;
  } catch {
    return null;
  }
};

const expectComplete = async (api: ApiTestClient, { id, state }: Pending, name: string): Promise<void> => {
  const path = `/api/v2/state-versions/${id}`;
  const document = expectStatus(await api.get(`${path}?include=outputs`), 200).body;
  expect(document.data.attributes).toMatchObject({ status: 'finalized', 'resources-processed': true });
  expect((await api.get(`${path}/download`)).text).toBe(state.bytes.toString());
  const outputs = expectStatus(await api.get(`${path}/outputs`), 200).body.data;
  expect(outputs.map(({ attributes }: any) => [attributes.name, attributes.value])).toEqual([['zone', name]]);
};

/** Unlocks the workspace first, because the resources of a locked workspace are those of the previous state. */
const expectResources = async (api: ApiTestClient, { id }: Pending): Promise<void> => {
  const { data } = expectStatus(await api.get(`/api/v2/state-versions/${id}`), 200).body;
  const workspace = data.relationships.workspace.data.id as string;
  expectStatus(await api.post(`/api/v2/workspaces/${workspace}/actions/unlock`, {}), 200);
  const resources = expectStatus(await api.get(`/api/v2/workspaces/${workspace}/resources`), 200).body;
  expect(resources.meta.pagination['total-count']).toBe(200);
};

/** Expects a version to be pending without a download, or complete. Returns its status. */
const expectNothingHalf = async (api: ApiTestClient, pending: Pending, name: string): Promise<string> => {
  const path = `/api/v2/state-versions/${pending.id}`;
  const { status } = expectStatus(await api.get(path), 200).body.data.attributes;
  if (status === 'finalized') await expectComplete(api, pending, name);
  else expect([status, (await api.get(`${path}/download`)).status]).toEqual(['pending', 404]);
  return status as string;
};

it('keeps each acknowledged state complete if the process is killed between a state, its extracts and the event', async () => {
  product = await launchProduct();
  await product.start();
  const api = createApiTestClient(product.url, product.adminToken);
  await makeOrganization(api, 'acme');
  const uploads: [string, Pending][] = [];
  for (const files of KILLED_AFTER) {
    const [acknowledged, cut] = [`whole-${files}`, `cut-${files}`];
    uploads.push([acknowledged, await announce(api, acknowledged)], [cut, await announce(api, cut)]);
    const [[, first], [, second]] = uploads.slice(-2) as [[string, Pending], [string, Pending]];
    expect(await put(first)).toBe(200);
    const listening = Promise.withResolvers<void>();
    const reached = stored(second.id, files, () => listening.resolve());
    await listening.promise;
    const answer = put(second);
    await reached;
    expect((await product.kill()).signal).toBe('SIGKILL');
    const status = await answer;
    await product.start();
    await expectComplete(api, first, acknowledged);
    // The event may have been committed before the signal, and the response may have arrived.
    const stateStatus = await expectNothingHalf(api, second, cut);
    expect(status !== 200 || stateStatus === 'finalized').toBe(true);
    expect(await put(second)).toBe(200);
  }
  for (const [name, pending] of uploads) {
    await expectComplete(api, pending, name);
    await expectResources(api, pending);
  }
  expect(await product.run('verify')).toMatchObject({ code: 0 });
}, 120_000);
