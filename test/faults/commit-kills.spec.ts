import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { INSTALL_GITEA_TIMEOUT_MS, startGitea, type Gitea } from '../support/gitea.js';
import { makeOauthClient, REACHES_GIT_HOSTS } from '../support/git-host.js';
import { launchProduct, waitUntil, type Product } from '../support/product.js';
import { createRecordingProxy, type RecordingProxy } from '../support/recording-proxy.js';
import { expectStatus, makeOrganization, makeRemotePool, makeWorkspace } from '../support/seeds.js';
import { createApiTestClient, type ApiTestClient } from '../support/server.js';

// All processes are one, which dies while a request to the Git host has no answer.

const LONG = 600_000;
const STEP = 150_000;

let gitea: Gitea;
let proxy: RecordingProxy;
let product: Product;
let serving: ReturnType<Product['spawn']>;
let api: ApiTestClient;
let repository: string;
let workspaces: readonly string[];

/** With an address of the loopback, the server would create no webhook. */
const start = async (): Promise<void> => {
  serving = product.spawnWith({ CADASTRE_PUBLIC_URL: product.url.replace('127.0.0.1', '0.0.0.0') }, 'serve');
  await waitUntil(async () => (await api.get('/readyz').catch(() => null))?.status === 200, 'the server is ready');
};

const kill = async (): Promise<void> => {
  serving.kill('SIGKILL');
  await serving.ended;
};

beforeAll(async () => {
  gitea = await startGitea();
  proxy = await createRecordingProxy(gitea.url);
  repository = await gitea.makeRepository('network', { 'main.tf': 'terraform {}\n' });
  product = await launchProduct(REACHES_GIT_HOSTS);
  api = createApiTestClient(product.url, product.adminToken);
  await start();
  await makeOrganization(api, 'acme');
  await makeRemotePool(api, 'acme', 'edge');
  const { token } = await makeOauthClient(api, 'acme', { url: proxy.url, token: gitea.token });
  const attributes = { 'vcs-repo': { identifier: repository, 'oauth-token-id': token }, 'queue-all-runs': true };
  workspaces = [
    await makeWorkspace(api, 'acme', 'one', attributes),
    await makeWorkspace(api, 'acme', 'two', attributes),
  ];
}, INSTALL_GITEA_TIMEOUT_MS);

afterAll(async () => {
  await kill();
  await product.remove();
  await proxy.close();
  await gitea.remove();
}, LONG);

const listMessages = async (workspace: string): Promise<readonly string[]> =>
  expectStatus(await api.get(`/api/v2/workspaces/${workspace}/runs`), 200).body.data.map(
    ({ attributes }: { readonly attributes: { readonly message: string } }) => attributes.message.trim(),
  );

const countConfigurations = async (workspace: string): Promise<number> =>
  expectStatus(await api.get(`/api/v2/workspaces/${workspace}/configuration-versions`), 200).body.data.length;

const waitForRuns = (message: string): Promise<void> =>
  waitUntil(
    async () => {
      const messages = await Promise.all(workspaces.map(listMessages));
      return messages.every((each) => each.includes(message));
    },
    `both workspaces run the commit ${message}`,
    STEP,
  );

const countWebhooks = async (): Promise<number> => (await gitea.call('GET', `/repos/${repository}/hooks`)).length;

describe('kill -9 while a commit becomes runs', () => {
  it(
    'gives each workspace one run for each commit, whatever the server waited for',
    async () => {
      // A round of polls starts at once after a start, and begins to follow the repository.
      await kill();
      await start();
      await waitForRuns('Add files');
      await waitUntil(async () => (await countWebhooks()) > 0, 'the webhook exists');
      const { commit: first } = await gitea.call('GET', `/repos/${repository}/branches/main`);
      const earlier: string[] = [first.id];
      // Statuses of earlier commits can still be sent.
      const isNewStatus = (request: string): boolean =>
        request.startsWith('POST ') && request.includes('/statuses/') && !earlier.some((sha) => request.includes(sha));
      const steps: readonly (readonly [string, (request: string) => boolean])[] = [
        ['After the delivery', (request) => request.includes('/branches/main')],
        ['In the decision', (request) => request.includes('/git/commits/')],
        ['In the download', (request) => request.includes('/archive/')],
        ['After the run', isNewStatus],
      ];
      for (const [message, matches] of steps) {
        let isReached = false;
        const reached = proxy.holdNext(matches).then(() => (isReached = true));
        const sha = await gitea.commit(repository, 'main', { [`${message}.tf`]: '#\n' }, message);
        await waitUntil(() => isReached, `the server waits for an answer: ${message}`, STEP);
        await reached;
        await kill();
        await start();
        await waitForRuns(message);
        earlier.push(sha);
      }
      const expected = ['Add files', ...steps.map(([message]) => message)].toReversed();
      for (const workspace of workspaces) {
        expect(await listMessages(workspace)).toEqual(expected);
        expect(await countConfigurations(workspace)).toBe(expected.length);
      }
      expect(await countWebhooks()).toBe(1);
    },
    LONG,
  );
});
