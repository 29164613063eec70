import { expect, it } from '@jest/globals';
import type { GitHost, GitHosts } from '#vcs/git-hosts';
import { Connections } from './connections.service.js';
import type { OauthClientRow } from './oauth-clients.view.js';

it('gives all requests for one request of a caller the same deadline', async () => {
  const deadlines: unknown[] = [];
  const open = ({ deadline }: Parameters<GitHosts['open']>[0]) => {
    deadlines.push(deadline);
    return {} as GitHost;
  };
  const tokens = { open: () => Promise.resolve('token'), recordAnswer: () => Promise.resolve() };
  const connections = new Connections({ open } as unknown as GitHosts, tokens, tokens);
  const client = { serviceProvider: 'gitea', apiUrl: 'https://git.example.com', token: 'ot-1' } as OauthClientRow;
  await connections.use(client, () => Promise.resolve());
  expect(deadlines).toEqual([expect.any(AbortSignal)]);
});
