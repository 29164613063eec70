import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { extract } from 'tar-stream';
import { readBytes } from '#storage/blob-store';
import { createCommitsJobs } from './index.js';
import { INSTALL_GITEA_TIMEOUT_MS, startGitea, type Gitea } from '../../../test/support/gitea.js';
import { makeOauthClient, REACHES_GIT_HOSTS } from '../../../test/support/git-host.js';
import { startReceiver, type NotificationReceiver } from '../../../test/support/notification-receiver.js';
import { runJobs } from '../../../test/support/scheduled-jobs.js';
import { expectStatus, makeOrganization, makeRemotePool, makeWorkspace } from '../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../test/support/server.js';

const LFS_POINTER = `version https://git-lfs.github.com/spec/v1\noid sha256:${'4'.repeat(64)}\nsize 12345\n`;

let gitea: Gitea;
let server: TestServer;
let token: string;
let foreign: NotificationReceiver;
let library: string;
let nested: string;
let repositories = 0;

beforeAll(async () => {
  gitea = await startGitea();
  foreign = await startReceiver();
  server = await startTestServer({ followers: true, env: REACHES_GIT_HOSTS });
  await makeOrganization(server, 'acme');
  await makeRemotePool(server, 'acme', 'edge');
  ({ token } = await makeOauthClient(server, 'acme', gitea));
  nested = await gitea.makeRepository('nested', { 'nested.tf': '# nested\n' });
  library = await gitea.makeRepository('library', { 'library.tf': '# library\n' });
  await addSubmodules(library, [{ path: 'inner', url: '../nested.git', of: nested }]);
}, INSTALL_GITEA_TIMEOUT_MS);

afterAll(async () => {
  await server.close();
  await foreign.close();
  await gitea.remove();
});

const makeRepository = (files: Readonly<Record<string, string>> = { 'main.tf': '# main\n' }): Promise<string> => {
  repositories += 1;
  return gitea.makeRepository(`with-submodules-${repositories}`, files);
};

/** `of`: the repository whose newest commit the submodule has. */
type AddedSubmodule = { readonly path: string; readonly url: string; readonly of?: string };

/** Commits submodules without a clone of them, so that their URL can be any text. */
const addSubmodules = async (identifier: string, submodules: readonly AddedSubmodule[]): Promise<void> => {
  const commands: string[][] = [];
  for (const [number, { path, url, of }] of submodules.entries()) {
    const set = (key: string, value: string) => ['config', '-f', '.gitmodules', `submodule.s${number}.${key}`, value];
    commands.push(set('path', path), set('url', url));
    if (of === undefined) continue;
    const { commit } = await gitea.call('GET', `/repos/${of}/branches/main`);
    commands.push(['update-index', '--add', '--cacheinfo', `160000,${commit.id},${path}`]);
  }
  await gitea.runGit(identifier, [
    ...commands,
    ['add', '.gitmodules'],
    ['commit', '--message', 'Add submodules'],
    ['push', 'origin', 'main'],
  ]);
};

type FetchedVersion = { readonly id: string; readonly attributes: Readonly<Record<string, unknown>> };

/** Binds a new workspace to the repository, and returns its configuration version. */
const fetchVersion = async (identifier: string, withSubmodules = true): Promise<FetchedVersion> => {
  const workspace = await makeWorkspace(server, 'acme', `${identifier.replace('/', '-')}-${withSubmodules}`, {
    'vcs-repo': { identifier, 'oauth-token-id': token, 'ingress-submodules': withSubmodules },
  });
  const { runtime, store } = server;
  const jobs = createCommitsJobs({ ...runtime, ...runtime.settings, store });
  await runJobs(jobs, 'repository_commits', withSubmodules ? 'submodule_fetches' : 'commit_fetches');
  const path = `/api/v2/workspaces/${workspace}/configuration-versions`;
  return expectStatus(await server.get(path), 200).body.data[0];
};

/** Returns the files of a configuration version with their texts. */
const readFiles = async ({ id, attributes }: FetchedVersion): Promise<Readonly<Record<string, string>>> => {
  expect(attributes).toMatchObject({ status: 'uploaded' });
  const { headers } = expectStatus(await server.get(`/api/v2/configuration-versions/${id}/download`), 302);
  const { pathname, search } = new URL(headers.get('location') ?? '');
  const archive = await fetch(`${server.url}${pathname}${search}`);
  const entries = extract();
  entries.end(gunzipSync(Buffer.from(await archive.arrayBuffer())));
  const files: Record<string, string> = {};
  for await (const entry of entries) {
    const text = (await readBytes(entry)).toString('utf8');
    if (entry.header.type === 'file' && !entry.header.name.endsWith('.gitmodules')) files[entry.header.name] = text;
  }
  return files;
};

describe('the submodules of a commit', () => {
  it('are in its configuration, also those of submodules, if the workspace includes them', async () => {
    const identifier = await makeRepository();
    await addSubmodules(identifier, [{ path: 'modules/library', url: '../library.git', of: library }]);
    expect(await readFiles(await fetchVersion(identifier))).toEqual({
      'main.tf': '# main\n',
      'modules/library/library.tf': '# library\n',
      'modules/library/inner/nested.tf': '# nested\n',
    });
    expect(await readFiles(await fetchVersion(identifier, false))).toEqual({ 'main.tf': '# main\n' });
  });

  it('can have every kind of URL of the Git host, and declarations without a submodule change nothing', async () => {
    const identifier = await makeRepository();
    await addSubmodules(identifier, [
      { path: 'http', url: `${gitea.url}/${nested}`, of: nested },
      { path: 'ssh', url: `git@127.0.0.1:${nested}.git`, of: nested },
      { path: 'declared-only', url: `${foreign.url}/acme/secret.git` },
    ]);
    expect(await readFiles(await fetchVersion(identifier))).toEqual({
      'main.tf': '# main\n',
      'http/nested.tf': '# nested\n',
      'ssh/nested.tf': '# nested\n',
    });
  });

  it.each<[string, (url: string) => AddedSubmodule, string]>([
    ['another host', (url) => ({ path: 'a', url: `${url}/acme/lib.git` }), 'reads no other host'],
    ['a file', () => ({ path: 'a', url: 'file:///etc' }), 'reads no other host'],
    ['a folder of the server', () => ({ path: 'a', url: '/etc' }), 'reads no other host'],
    ['a command', () => ({ path: 'a', url: 'ext::sh -c touch% owned' }), 'reads no other host'],
    ['a repository that is missing', () => ({ path: 'a', url: '../none.git' }), 'The submodule a cannot be fetched'],
    ['a path of the API', () => ({ path: 'a', url: '../../user' }), 'The submodule a cannot be fetched'],
  ])('of %s end the configuration, and the token stays at its Git host', async (_, toSubmodule, reason) => {
    const identifier = await makeRepository();
    await addSubmodules(identifier, [{ ...toSubmodule(foreign.url), of: nested }]);
    const { attributes } = await fetchVersion(identifier);
    expect(attributes).toMatchObject({ status: 'errored', 'error-message': expect.stringContaining(reason) });
    expect(foreign.received).toEqual([]);
  });

  it('have no path outside of their repository', async () => {
    const identifier = await makeRepository();
    await addSubmodules(identifier, [{ path: '../up', url: '../nested.git' }]);
    const { attributes } = await fetchVersion(identifier);
    expect(attributes).toMatchObject({
      status: 'errored',
      'error-message': 'A submodule cannot have the path "../up"',
    });
  });

  it('are at most 20', async () => {
    const identifier = await makeRepository();
    const paths = Array.from({ length: 21 }, (_, number) => ({ path: `s${number}`, url: '../nested.git', of: nested }));
    await addSubmodules(identifier, paths);
    expect((await fetchVersion(identifier)).attributes).toMatchObject({
      status: 'errored',
      'error-message': 'The commit and its submodules declare more than 20 submodules',
    });
  });

  it('are at most 20 with declarations of its submodules, and those without a submodule', async () => {
    const identifier = await makeRepository();
    const declared = Array.from({ length: 19 }, (_, number) => ({ path: `s${number}`, url: '../nested.git' }));
    await addSubmodules(identifier, [{ path: 'library', url: '../library.git', of: library }, ...declared]);
    expect((await fetchVersion(identifier)).attributes).toMatchObject({
      status: 'errored',
      'error-message': 'The commit and its submodules declare more than 20 submodules',
    });
  });
});

describe('a file of Git LFS', () => {
  it('stays the pointer that the repository has', async () => {
    const files = { 'main.tf': '# main\n', 'image.bin': LFS_POINTER, '.gitattributes': '*.bin filter=lfs -text\n' };
    expect(await readFiles(await fetchVersion(await makeRepository(files)))).toEqual(files);
  });
});
