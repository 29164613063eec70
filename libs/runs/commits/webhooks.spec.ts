import { createHmac, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { Vault } from '#storage/vault';
import { GitHostError } from '#vcs/git-hosts';
import { createCommitsJobs } from './index.js';
import { RepositoryWebhooks } from './repository-webhooks.service.js';
import { FixedClock } from '../../../test/support/clocks.js';
import { INSTALL_GITEA_TIMEOUT_MS, startGitea, type Gitea } from '../../../test/support/gitea.js';
import { makeOauthClient, REACHES_GIT_HOSTS } from '../../../test/support/git-host.js';
import { waitUntil } from '../../../test/support/product.js';
import { runJobs } from '../../../test/support/scheduled-jobs.js';
import { expectStatus, makeOrganization, makeRemotePool, makeWorkspace } from '../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../test/support/server.js';

let gitea: Gitea;
let server: TestServer;
let client: string;
let token: string;
let clock: FixedClock;
let repositories = 0;

beforeAll(async () => {
  gitea = await startGitea();
  server = await startTestServer({ followers: true, env: REACHES_GIT_HOSTS });
  clock = new FixedClock();
  await makeOrganization(server, 'acme');
  await makeRemotePool(server, 'acme', 'edge');
  ({ client, token } = await makeOauthClient(server, 'acme', gitea));
}, INSTALL_GITEA_TIMEOUT_MS);

afterAll(async () => {
  await server.close();
  await gitea.remove();
});

/** Returns another address of the server: with an address of the loopback, it creates no webhooks. */
const toPublicUrl = (): string => server.url.replace('127.0.0.1', '0.0.0.0');

const run = async (...names: readonly string[]): Promise<void> => {
  const { runtime, store } = server;
  const options = { ...runtime, ...runtime.settings, store, clock, publicUrl: toPublicUrl() };
  await runJobs(createCommitsJobs(options), ...names);
};

const poll = (): Promise<void> => run('repository_commits', 'commit_fetches');
const handleDeliveries = (): Promise<void> => run('webhook_deliveries', 'commit_fetches');

const makeRepository = (): Promise<string> => {
  repositories += 1;
  return gitea.makeRepository(`watched-${repositories}`, { 'main.tf': 'terraform {}\n' });
};

const bind = (identifier: string, name: string): Promise<string> =>
  makeWorkspace(server, 'acme', name, {
    'vcs-repo': { identifier, 'oauth-token-id': token },
    'queue-all-runs': true,
  });

const listMessages = async (workspace: string): Promise<readonly unknown[]> =>
  expectStatus(await server.get(`/api/v2/workspaces/${workspace}/runs`), 200).body.data.map(
    ({ attributes }: { attributes: { message: unknown } }) => attributes.message,
  );

type StoredWebhook = { readonly id: string; readonly hostId: string | null };

const findWebhook = async (identifier: string): Promise<StoredWebhook | undefined> =>
  server.database.row<StoredWebhook>(
    sql`select id, host_id as "hostId" from commits.webhooks where identifier = ${identifier}`,
  );

const requireWebhook = async (identifier: string): Promise<StoredWebhook> => {
  const webhook = await findWebhook(identifier);
  if (!webhook) throw new Error(`${identifier} has no webhook`);
  return webhook;
};

/** Of one webhook, because the Git host delivers what other tests changed while this one runs. */
const countDeliveries = async (webhook: string): Promise<number> => {
  const row = await server.database.row<{ count: number }>(
    sql`select count(*)::int as count from commits.webhook_deliveries where webhook = ${webhook}`,
  );
  return row?.count ?? 0;
};

type Sent = { readonly id?: string; readonly signature?: string; readonly body?: string };

/** Sends a delivery to a webhook, signed with its secret. */
const deliver = async (webhook: string, identifier: string, sent: Sent = {}): Promise<number> => {
  const secret = (await new Vault(server.database, server.runtime.encryptionKeys).open(webhook)) ?? '';
  const body = sent.body ?? JSON.stringify({ repository: { full_name: identifier } });
  const response = await fetch(`${server.url}/api/v2/webhooks/vcs/${webhook}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-gitea-event': 'push',
      'x-gitea-delivery': sent.id ?? randomUUID(),
      'x-gitea-signature': sent.signature ?? createHmac('sha256', secret).update(body).digest('hex'),
    },
    body,
  });
  return response.status;
};

const listHooks = async (identifier: string): Promise<readonly { id: number; config: { url: string } }[]> =>
  gitea.call('GET', `/repos/${identifier}/hooks`);

describe('the webhook of a repository', () => {
  it('is created once for all workspaces, and makes a push start its runs at once', async () => {
    const repository = await makeRepository();
    const [one, two] = [await bind(repository, 'hooked-1'), await bind(repository, 'hooked-2')];
    await poll();
    await poll();
    const webhook = await requireWebhook(repository);
    const hooks = await listHooks(repository);
    const url = `${toPublicUrl()}/api/v2/webhooks/vcs/${webhook.id}`;
    expect(hooks.map(({ id, config }) => [String(id), config.url])).toEqual([[webhook.hostId, url]]);
    const before = await countDeliveries(webhook.id);
    await gitea.commit(repository, 'main', { 'next.tf': '#\n' }, 'Next');
    await waitUntil(async () => (await countDeliveries(webhook.id)) > before, 'the delivery of the push');
    await handleDeliveries();
    for (const workspace of [one, two]) expect(await listMessages(workspace)).toEqual(['Next\n', 'Add files\n']);
    await poll();
    expect(await listMessages(one)).toEqual(['Next\n', 'Add files\n']);
  });

  it('is repaired if it was changed or deleted at the host', async () => {
    const repository = await makeRepository();
    await bind(repository, 'repaired');
    await poll();
    const { id, hostId } = await requireWebhook(repository);
    await gitea.call('PATCH', `/repos/${repository}/hooks/${hostId}`, { active: false });
    clock.pass({ minutes: 61 });
    await poll();
    const repaired = await requireWebhook(repository);
    expect([repaired.id, (await listHooks(repository)).map((hook) => String(hook.id))]).toEqual([
      id,
      [repaired.hostId],
    ]);
    expect(repaired.hostId).not.toBe(hostId);
    await gitea.call('DELETE', `/repos/${repository}/hooks/${repaired.hostId}`);
    clock.pass({ minutes: 61 });
    await poll();
    expect(await listHooks(repository)).toHaveLength(1);
  });

  it('is removed when no workspace follows the repository, with its secret', async () => {
    const repository = await makeRepository();
    const workspace = await bind(repository, 'unbound');
    await poll();
    const { id } = await requireWebhook(repository);
    const unbound = { data: { type: 'workspaces', attributes: { 'vcs-repo': null } } };
    expectStatus(await server.patch(`/api/v2/workspaces/${workspace}`, unbound), 200);
    const { database, runtime } = server;
    const vault = new Vault(database, runtime.encryptionKeys);
    const webhooks = new RepositoryWebhooks({ database, vault, ids: runtime.ids, clock, publicUrl: null });
    await webhooks.removeUnused(async () => {
      throw new GitHostError('unavailable', 'The host is down');
    });
    await poll();
    expect(await listHooks(repository)).toHaveLength(1);
    clock.pass({ minutes: 61 });
    await poll();
    expect([await findWebhook(repository), await listHooks(repository)]).toEqual([undefined, []]);
    expect(await new Vault(server.database, server.runtime.encryptionKeys).open(id)).toBeUndefined();
    expect(await deliver(id, repository)).toBe(404);
  });

  it('stores only signed deliveries, and each of them once', async () => {
    const repository = await makeRepository();
    await bind(repository, 'guarded');
    await poll();
    const { id } = await requireWebhook(repository);
    const before = await countDeliveries(id);
    expect(await deliver(id, repository, { signature: 'f'.repeat(64) })).toBe(403);
    expect(await deliver(id, repository, { signature: '' })).toBe(403);
    expect(await deliver(id, repository, { body: '{' })).toBe(400);
    expect(await deliver(id, repository, { body: JSON.stringify('x'.repeat(4 * 1_048_576)) })).toBe(413);
    expect(await countDeliveries(id)).toBe(before);
    const delivery = randomUUID();
    expect([await deliver(id, repository, { id: delivery }), await deliver(id, repository, { id: delivery })]).toEqual([
      204, 204,
    ]);
    expect(await countDeliveries(id)).toBe(before + 1);
  });

  it('stores at most two deliveries until the server has read the repository', async () => {
    const repository = await makeRepository();
    await bind(repository, 'flooded');
    await poll();
    const { id } = await requireWebhook(repository);
    const before = await countDeliveries(id);
    for (let sent = 0; sent < 3; sent += 1) expect(await deliver(id, repository)).toBe(204);
    expect(await countDeliveries(id)).toBe(before + 2);
    await handleDeliveries();
    await deliver(id, repository);
    expect(await countDeliveries(id)).toBe(before + 3);
  });

  it('is not needed: polls find what it did not send', async () => {
    const repository = await makeRepository();
    const workspace = await bind(repository, 'lost');
    await poll();
    const { hostId } = await requireWebhook(repository);
    await gitea.call('DELETE', `/repos/${repository}/hooks/${hostId}`);
    await gitea.commit(repository, 'main', { 'next.tf': '#\n' }, 'Next');
    await poll();
    expect(await listMessages(workspace)).toEqual(['Next\n', 'Add files\n']);
  });
});

describe('the VCS events of an organization', () => {
  const list = async (query = ''): Promise<readonly { attributes: Record<string, unknown> }[]> =>
    expectStatus(await server.get(`/api/v2/organizations/acme/vcs-events${query}`), 200).body.data;

  it('say why commits start no run, until they are 10 days old', async () => {
    const repository = await makeRepository();
    await makeWorkspace(server, 'acme', 'explained', {
      'vcs-repo': { identifier: repository, 'oauth-token-id': token },
      'queue-all-runs': true,
      'working-directory': 'network',
    });
    await poll();
    const sha = await gitea.commit(repository, 'main', { 'elsewhere.tf': '#\n' }, 'Elsewhere');
    await poll();
    const message = `Workspace explained does not run the commit ${sha.slice(0, 12)} of the branch main of ${repository}: No changed file matches the triggers`;
    const about = (rows: readonly { attributes: Record<string, unknown> }[]) =>
      rows.filter(({ attributes }) => attributes['message'] === message);
    const events = about(await list(`?filter[oauth_client_external_ids]=${client}&filter[levels]=info`));
    expect(events).toMatchObject([{ attributes: { level: 'info', 'suggested-action': null } }]);
    expect(await list('?filter[levels]=error')).toEqual([]);
    const path = '/api/v2/organizations/acme/vcs-events?include=oauth_client';
    expect(expectStatus(await server.get(path), 200).body.included).toMatchObject([{ id: client }]);
    expect(await list('?filter[to]=2000-01-01')).toEqual([]);
    for (const filter of ['filter[levels]=debug', 'filter[from]=yesterday'])
      expectStatus(await server.get(`/api/v2/organizations/acme/vcs-events?${filter}`), 400);
    clock.pass({ minutes: 10 * 24 * 60 + 1 });
    await poll();
    expect(about(await list())).toEqual([]);
  });
});

describe('a hostile delivery', () => {
  it('of one webhook makes the server read no other repository', async () => {
    const [own, other] = [await makeRepository(), await makeRepository()];
    await bind(own, 'own');
    const workspace = await bind(other, 'other');
    await poll();
    const [{ id }, { id: otherId, hostId }] = [await requireWebhook(own), await requireWebhook(other)];
    await gitea.call('DELETE', `/repos/${other}/hooks/${hostId}`);
    await gitea.commit(other, 'main', { 'next.tf': '#\n' }, 'Next');
    await handleDeliveries();
    const before = await countDeliveries(id);
    expect(await deliver(id, other)).toBe(204);
    await handleDeliveries();
    expect([await countDeliveries(id), await countDeliveries(otherId)]).toEqual([before + 1, 0]);
    expect(await listMessages(workspace)).toEqual(['Add files\n']);
    await poll();
    expect(await listMessages(workspace)).toEqual(['Next\n', 'Add files\n']);
  });

  it('with the signature of another webhook is refused', async () => {
    const [own, other] = [await makeRepository(), await makeRepository()];
    await bind(own, 'signed');
    await bind(other, 'signed-otherwise');
    await poll();
    const [{ id }, { id: otherId }] = [await requireWebhook(own), await requireWebhook(other)];
    const secret = (await new Vault(server.database, server.runtime.encryptionKeys).open(otherId)) ?? '';
    const body = JSON.stringify({ repository: { full_name: own } });
    const signature = createHmac('sha256', secret).update(body).digest('hex');
    const before = await countDeliveries(id);
    expect(await deliver(id, own, { body, signature })).toBe(403);
    expect(await countDeliveries(id)).toBe(before);
  });

  it.each([
    ['a branch above its folder', { ref: 'refs/heads/../../../admin' }, 204],
    ['a branch that reads from right to left', { ref: 'refs/heads/niam\u202e', after: '0'.repeat(40) }, 204],
    ['an invalid commit', { ref: 'refs/heads/main', after: '../../etc/passwd', before: -1 }, 204],
    ['a repository above its folder', { repository: { full_name: '../../user' } }, 204],
    ['a repository with a slash that only looks like one', { repository: { full_name: 'acme\uff0fnetwork' } }, 204],
    ['a repository with a control character', { repository: { full_name: 'acme/network\u0000' } }, 400],
    ['a repository with half of a character', { repository: { full_name: 'acme/\ud800' } }, 400],
    ['a repository with a long name', { repository: { full_name: 'a'.repeat(501) } }, 400],
    ['a repository that is a list', { repository: ['acme/network'] }, 400],
  ])('about %s starts no run', async (title, fields, status) => {
    const repository = await makeRepository();
    const workspace = await bind(repository, title.replaceAll(' ', '-'));
    await poll();
    const { id } = await requireWebhook(repository);
    const body = JSON.stringify({ repository: { full_name: repository }, ...fields });
    expect(await deliver(id, repository, { body })).toBe(status);
    await handleDeliveries();
    expect(await listMessages(workspace)).toEqual(['Add files\n']);
  });

  it.each([
    '..',
    '../main',
    'x/../main',
    'main/..',
    './main',
    '%2e%2e/main',
    'main?ref=x',
    'main#',
    'ma\u0456n',
    'main\u200b',
  ])('finds no branch %j, which a workspace can follow', async (branch) => {
    const repository = await makeRepository();
    const workspace = await makeWorkspace(server, 'acme', `follows-${Buffer.from(branch).toString('hex')}`, {
      'vcs-repo': { identifier: repository, 'oauth-token-id': token, branch },
      'queue-all-runs': true,
    });
    const followsMain = await bind(repository, `${Buffer.from(branch).toString('hex')}-main`);
    await poll();
    await deliver((await requireWebhook(repository)).id, repository);
    await handleDeliveries();
    expect(await listMessages(followsMain)).toEqual(['Add files\n']);
    expect(await listMessages(workspace)).toEqual([]);
  });
});
