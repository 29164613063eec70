import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { INSTALL_GITEA_TIMEOUT_MS, startGitea, type Gitea } from '../../../test/support/gitea.js';
import { GitHosts, type GitHost } from './index.js';

let gitea: Gitea;
let host: GitHost;
let network: string;

const open = (token: string): GitHost =>
  new GitHosts(['127.0.0.1']).open({ provider: 'gitea', apiUrl: gitea.apiUrl, token });

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
});
