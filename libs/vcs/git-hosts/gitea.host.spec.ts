import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { INSTALL_GITEA_TIMEOUT_MS, startGitea, type Gitea } from '../../../test/support/gitea.js';
import { waitUntil } from '../../../test/support/product.js';
import { startReceiver } from '../../../test/support/notification-receiver.js';
import { DELIVERIES } from './git-hosts.service.js';
import { GitHosts, type GitHost } from './index.js';

let gitea: Gitea;
let host: GitHost;
let network: string;

const open = (token: string): GitHost =>
  new GitHosts(['127.0.0.1']).open({ provider: 'gitea', apiUrl: gitea.apiUrl, token });

const isAboutPullRequest = ({ headers }: { readonly headers: Readonly<Record<string, unknown>> }): boolean =>
  headers['x-gitea-event'] === 'pull_request';

beforeAll(async () => {
  gitea = await startGitea();
  host = open(gitea.token);
  network = await gitea.makeRepository('network', {
    'main.tf': 'terraform {}\n',
    'modules/vpc/main.tf': 'terraform {}\n',
  });
  await gitea.makeRepository('network-of-others', { 'main.tf': 'terraform {}\n' });
}, INSTALL_GITEA_TIMEOUT_MS);

afterAll(() => gitea.remove());

describe('a real Gitea', () => {
  it('names the account of the token', async () => {
    expect(await host.getUser()).toEqual({ name: gitea.user });
  });

  it('refuses a wrong token', async () => {
    await expect(open('wrong').getUser()).rejects.toMatchObject({ failure: 'unauthorized' });
  });

  it('lists repositories by pages, and those with a text in their name', async () => {
    const first = await host.listRepositories({ search: undefined, number: 1, size: 1 });
    const second = await host.listRepositories({ search: undefined, number: 2, size: 1 });
    const identifiers = [...first.repositories, ...second.repositories].map(({ identifier }) => identifier);
    expect([first.total, identifiers]).toEqual([2, [network, `${network}-of-others`]]);
    const matching = await host.listRepositories({ search: 'others', number: 1, size: 20 });
    expect(matching.repositories.map(({ identifier }) => identifier)).toEqual([`${network}-of-others`]);
  });

  it('has a repository or has none', async () => {
    expect(await host.findRepository(network)).toEqual({
      identifier: network,
      defaultBranch: 'main',
      httpUrl: `${gitea.url}/${network}`,
    });
    for (const identifier of [`${gitea.user}/none`, 'none', '../user', 'a/..', `${network}?x=/`, `${network}#/`])
      expect([identifier, await host.findRepository(identifier)]).toEqual([identifier, null]);
  });

  it('lists the folders of a branch', async () => {
    expect(await host.listFolders(network, 'main')).toEqual(['modules', 'modules/vpc']);
    expect(await host.listFolders(network, 'none')).toBeNull();
    for (const branch of ['..', '.', '../..', 'a?b', ' ']) expect(await host.findHead(network, branch)).toBeNull();
    await gitea.commit(network, 'release/1.0', { 'other/main.tf': 'terraform {}\n' });
    expect(await host.listFolders(network, 'release/1.0')).toEqual(['modules', 'modules/vpc', 'other']);
  });

  it('sends signed pushes, tags and changes of pull requests to a webhook', async () => {
    const receiver = await startReceiver();
    const watched = await gitea.makeRepository('watched', { 'main.tf': 'terraform {}\n' });
    const secret = 'secret-of-the-webhook';
    const id = await host.createWebhook(watched, { url: receiver.url, secret });
    expect(await host.listWebhooks(watched)).toEqual([{ id, url: receiver.url, isComplete: true }]);
    await gitea.call('POST', `/repos/${watched}/tags`, { tag_name: 'v1.0.0', target: 'main' });
    await gitea.commit(watched, 'topic', { 'topic.tf': '#\n' });
    const pull = { head: 'topic', base: 'main', title: 'Add a topic' };
    await gitea.call('POST', `/repos/${watched}/pulls`, pull);
    await gitea.commit(watched, 'topic', { 'more.tf': '#\n' });
    await waitUntil(
      () => receiver.received.filter(isAboutPullRequest).length === 2,
      'both deliveries about the pull request',
    );
    const format = DELIVERIES.gitea;
    for (const { headers, body: text } of receiver.received) {
      const body = Buffer.from(text);
      expect([format.isSigned(headers, body, secret), format.isSigned(headers, body, 'another')]).toEqual([
        true,
        false,
      ]);
      expect(format.getId(headers)).toMatch(/^[0-9a-f-]{36}$/);
      expect(format.parse(headers, body)).toEqual({ event: expect.any(String), identifier: watched });
    }
    await gitea.call('PATCH', `/repos/${watched}/hooks/${id}`, { active: false });
    expect(await host.listWebhooks(watched)).toMatchObject([{ isComplete: false }]);
    await host.deleteWebhook(watched, id);
    await host.deleteWebhook(watched, id);
    expect(await host.listWebhooks(watched)).toEqual([]);
    await receiver.close();
  });

  it('lists open pull requests with their files, also of forks', async () => {
    const pulled = await gitea.makeRepository('pulled', { 'main.tf': 'terraform {}\n', 'old.tf': '#\n' });
    const sha = await gitea.commit(pulled, 'topic', { 'network/topic.tf': '#\n' });
    await gitea.call('POST', `/repos/${pulled}/pulls`, { head: 'topic', base: 'main', title: 'Add a topic' });
    const stranger = await gitea.makeFork(pulled, 'stranger');
    await stranger.commit(stranger.fork, 'proposal', { 'fork.tf': '#\n' });
    await stranger.call('POST', `/repos/${pulled}/pulls`, {
      head: 'stranger:proposal',
      base: 'main',
      title: 'Propose',
    });
    const [fork, own] = await host.listPullRequests(pulled);
    expect(fork).toMatchObject({ number: 2, branch: 'proposal', isFork: true, author: 'stranger' });
    expect(own).toEqual({
      number: 1,
      title: 'Add a topic',
      url: `${gitea.url}/${pulled}/pulls/1`,
      sha,
      branch: 'topic',
      baseBranch: 'main',
      isFork: false,
      author: gitea.user,
    });
    expect(await host.listPullRequestFiles(pulled, 1)).toEqual(['network/topic.tf']);
    await gitea.call('PATCH', `/repos/${pulled}/pulls/1`, { state: 'closed' });
    expect((await host.listPullRequests(pulled)).map(({ number }) => number)).toEqual([2]);
  });

  it('lists a pull request that was pushed without a branch as one of a fork, also if a branch has its name', async () => {
    const reviewed = await gitea.makeRepository('reviewed', { 'main.tf': 'terraform {}\n' });
    const reader = await gitea.makeFork(reviewed, 'reader');
    await reader.pushForReview('proposal');
    expect(await host.listPullRequests(reviewed)).toMatchObject([{ author: 'reader', isFork: true }]);
    await gitea.commit(reviewed, 'reader/proposal', { 'own.tf': '#\n' });
    expect(await host.listPullRequests(reviewed)).toMatchObject([{ author: 'reader', isFork: true }]);
  });

  it('has one status for each context of a commit', async () => {
    const reported = await gitea.makeRepository('reported', { 'main.tf': 'terraform {}\n' });
    const sha = await gitea.commit(reported, 'topic', { 'topic.tf': '#\n' });
    const status = { context: 'cadastre/acme/network', description: 'Planning', url: 'https://cadastre.example.com' };
    await host.setStatus(reported, sha, { ...status, state: 'pending' });
    await host.setStatus(reported, sha, { ...status, state: 'success' });
    const { statuses } = await gitea.call('GET', `/repos/${reported}/commits/${sha}/status`);
    expect(statuses).toMatchObject([{ context: status.context, status: 'success', target_url: status.url }]);
  });
});
