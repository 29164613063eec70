import { describe, expect, it } from '@jest/globals';
import type { GitHost, HostPullRequest } from '#vcs/git-hosts';
import type { BoundWorkspace } from './followed-repositories.queries.js';
import { decidePullRequests, type DecisionDependencies } from './pull-requests.service.js';
import { RepositoryReader } from './repository-reader.service.js';

const NOW = new Date('2026-11-29T10:00:00.000Z');

const openRequest = (number: number): HostPullRequest => ({
  number,
  title: 'change',
  url: `https://git.test/acme/network/pulls/${number}`,
  sha: String(number).padStart(40, '0'),
  branch: 'topic',
  baseBranch: 'main',
  isFork: false,
  author: null,
});

const listOf = (count: number): readonly HostPullRequest[] =>
  Array.from({ length: count }, (_, index) => openRequest(index + 1));

const without = (listed: readonly HostPullRequest[], ...numbers: readonly number[]): readonly HostPullRequest[] =>
  listed.filter(({ number }) => !numbers.includes(number));

/** Returns the pull requests whose plans end, if the host returns these lists one after another. */
const findEnded = async (
  before: readonly HostPullRequest[],
  lists: readonly (readonly HostPullRequest[])[],
): Promise<{ ended: readonly number[]; openCount: number; readings: number }> => {
  const ended: number[] = [];
  let readings = 0;
  const host: Pick<GitHost, 'listPullRequests'> = {
    listPullRequests: () => Promise.resolve(lists[readings++] ?? []),
  };
  const dependencies = {
    clock: { now: () => NOW },
    versions: { endPullRequest: (_: string, number: number) => Promise.resolve(void ended.push(number)) },
  } as unknown as DecisionDependencies;
  const bound = {
    workspace: 'ws-1',
    repository: { speculativeEnabled: true },
    pullRequests: Object.fromEntries(before.map(({ number, sha }) => [String(number), sha])),
  } as unknown as BoundWorkspace;
  const reader = new RepositoryReader(host as GitHost, 'acme/network', NOW);
  const { pullRequests } = await decidePullRequests(dependencies, bound, reader, false);
  const isOpen = (value: unknown): boolean =>
    typeof value === 'object' && value !== null && 'isOpen' in value && value.isOpen === true;
  return { ended, openCount: Object.values(pullRequests ?? {}).filter(isOpen).length, readings };
};

describe('pull requests that a list lacks', () => {
  it('are closed only if a second reading lacks them too', async () => {
    const before = listOf(120);
    const lists = [without(before, 7, 80), without(before, 7)];
    expect(await findEnded(before, lists)).toEqual({ ended: [7], openCount: 119, readings: 2 });
  });

  it('cost no second reading if all are listed', async () => {
    const before = listOf(120);
    expect(await findEnded(before, [before])).toEqual({ ended: [], openCount: 120, readings: 1 });
  });

  it('stay open while the list is full, the newest thousand of them', async () => {
    const before = listOf(1_100);
    const { ended, openCount } = await findEnded(before, [before.slice(-200)]);
    expect([openCount, ended.length, ended[0]]).toEqual([1_000, 100, 1]);
  });
});
