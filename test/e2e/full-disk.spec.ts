import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { FolderBlobs } from '#storage/blob-store';
import { makeRelease } from '../support/releases.js';
import { expectStatus, makeOrganization, makeWorkspace, resource } from '../support/seeds.js';
import { newStateVersion, pathOf, stateFile } from '../support/state-file.js';
import { startTestServer, type ApiResponse, type TestServer } from '../support/server.js';

const LINEAGE = 'lineage-of-full';

let server: TestServer;
let workspace: string;

beforeAll(async () => {
  server = await startTestServer();
  await makeOrganization(server, 'acme');
  workspace = await makeWorkspace(server, 'acme', 'full');
  expectStatus(await server.post(`/api/v2/workspaces/${workspace}/actions/lock`), 200);
});

afterEach(() => {
  jest.restoreAllMocks();
});
afterAll(() => server.close());

/** Makes the file store fail as if its disk were full. */
const fillDisk = (code: string): void => {
  const error = Object.assign(new Error(`${code}: no space left`), { code });
  jest.spyOn(FolderBlobs.prototype as unknown as { publish(): Promise<void> }, 'publish').mockRejectedValue(error);
};

/** Prepares an upload for each kind of file. The second call sends it. */
const UPLOADS: Readonly<Record<string, () => Promise<() => Promise<ApiResponse>>>> = {
  'a state in the request': async () => () =>
    server.post(
      `/api/v2/workspaces/${workspace}/state-versions`,
      newStateVersion(stateFile({ lineage: LINEAGE }), { inline: true }),
    ),
  'a state by a signed link': async () => {
    const file = stateFile({ lineage: LINEAGE, serial: 7 });
    const created = await server.post(
      `/api/v2/workspaces/${workspace}/state-versions`,
      newStateVersion(file, { inline: false }),
    );
    const { attributes } = expectStatus(created, 201).body.data;
    return () => server.put(pathOf(attributes['hosted-state-upload-url'] as string), file.bytes);
  },
  'a configuration version': async () => {
    const body = resource('configuration-versions', { 'auto-queue-runs': false });
    const created = await server.post(`/api/v2/workspaces/${workspace}/configuration-versions`, body);
    const { attributes } = expectStatus(created, 201).body.data;
    return () => server.put(pathOf(attributes['upload-url'] as string), gzipSync('main.tf'));
  },
  'the zip of a provider': async () => {
    const release = await makeRelease(server, 'acme', 'large', { keyId: 'NONE' });
    const archive = release.archive('linux');
    await release.addPlatform(archive);
    const link = await release.linkOf(archive, 'provider-binary-upload');
    return () => server.put(link, archive.bytes);
  },
};

describe('an upload while the disk is full', () => {
  it.each(Object.entries(UPLOADS))('gets 503 and succeeds when it is repeated later: %s', async (_, prepare) => {
    const upload = await prepare();
    for (const code of ['ENOSPC', 'EDQUOT']) {
      fillDisk(code);
      const refused = expectStatus(await upload(), 503);
      expect(refused.headers.get('retry-after')).toBe('60');
      expect(refused.body.errors).toMatchObject([
        { status: '503', detail: 'The disk of the file store is full. Try again when the operator has freed space.' },
      ]);
      jest.restoreAllMocks();
    }
    expect([200, 201]).toContain((await upload()).status);
  });
});
