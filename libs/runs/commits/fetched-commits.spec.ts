import { describe, expect, it } from '@jest/globals';
import type { UnfetchedCommit } from '#runs/runs';
import { GitHostError, type GitHost, type GitHostFailure } from '#vcs/git-hosts';
import { createCommitFetchesJobs } from './commit-fetches.job.js';
import { Pauses } from './pauses.service.js';
import { FixedClock } from '../../../test/support/clocks.js';
import { runJobOnce } from '../../../test/support/scheduled-jobs.js';
import { quiet } from '../../../test/support/silent-logger.js';

const toCommit = (token: string, sha: string): UnfetchedCommit => ({
  id: `cv-${token}-${sha}`,
  organization: `org-${token}`,
  identifier: 'acme/network',
  sha,
  token,
  serviceProvider: 'gitea',
  apiUrl: 'https://git.example.com/api/v1',
  httpUrl: 'https://git.example.com',
  withSubmodules: false,
  createdAt: new FixedClock().now().toISOString(),
});

/** Fetches the commits once. Returns the commits that were requested, and what was paused in the next round. */
const fetchOnce = async (
  commits: readonly UnfetchedCommit[],
  download: (token: string, sha: string, endTurn: () => void) => Promise<Buffer>,
  openToken = async (token: string): Promise<string> => token,
): Promise<{
  readonly requested: readonly string[];
  readonly paused: readonly string[];
  readonly failed: readonly string[];
}> => {
  const clock = new FixedClock();
  const requested: string[] = [];
  const failed: string[] = [];
  let paused: readonly string[] = [];
  let listed = 0;
  const turns: AbortController[] = [];
  const jobs = createCommitFetchesJobs({
    tokens: { open: openToken, recordAnswer: async () => undefined },
    hosts: {
      open: ({ token }) =>
        ({
          downloadArchive: (_: string, sha: string) => {
            requested.push(`${token} ${sha}`);
            return download(token, sha, () => turns[0]?.abort());
          },
        }) as unknown as GitHost,
    },
    versions: {
      findCommit: async () => null,
      create: async () => undefined,
      endPullRequest: async () => undefined,
      receive: async () => undefined,
      fail: async (id) => void failed.push(id),
      listUnfetched: async (_, keys, withSubmodules) => {
        listed += 1;
        paused = keys;
        return listed <= 2 ? commits.filter((commit) => commit.withSubmodules === withSubmodules) : [];
      },
    },
    clock,
    pauses: new Pauses(clock, quiet, 60_000),
    startDeadline: () => {
      const turn = new AbortController();
      turns.push(turn);
      return turn.signal;
    },
  });
  // The jobs run beside each other.
  await Promise.all(jobs.map(runJobOnce));
  await Promise.all(jobs.map(runJobOnce));
  return { requested, paused, failed };
};

describe('the fetches of commits', () => {
  it.each<[GitHostFailure, readonly string[], readonly string[]]>([
    ['unavailable', ['one a', 'one b'], ['one acme/network a false', 'one acme/network b false']],
    ['unauthorized', ['one a'], ['one']],
    ['rate-limited', ['one a'], ['one']],
  ])('pause what the failure "%s" concerns', async (failure, requested, paused) => {
    const commits = [toCommit('one', 'a'), toCommit('one', 'b')];
    const fetched = await fetchOnce(commits, async () => {
      throw new GitHostError(failure, 'The host failed');
    });
    expect(fetched).toEqual({ requested, paused, failed: [] });
  });

  it('never give up a commit because the token of its connection cannot be renewed', async () => {
    const old = { ...toCommit('one', 'a'), createdAt: '2000-01-01T00:00:00.000Z' };
    const renew = async (): Promise<string> => {
      throw new GitHostError('unavailable', 'The host failed');
    };
    const { failed, paused } = await fetchOnce([old], async () => Buffer.alloc(0), renew);
    expect({ failed, paused }).toEqual({ failed: [], paused: ['one acme/network a false'] });
  });

  it('leave a slow connection after its time, and reach the others', async () => {
    const commits = ['a', 'b', 'c'].map((sha) => toCommit('slow', sha));
    const { requested } = await fetchOnce([...commits, toCommit('quick', 'd')], async (token, sha, endTurn) => {
      if (token === 'slow' && sha === 'b') endTurn();
      throw new GitHostError('not-found', 'There is no such commit');
    });
    expect(requested.toSorted()).toEqual(['quick d', 'slow a', 'slow b']);
  });

  it('leave an organization after its time, however many connections it has', async () => {
    const commits = ['one', 'two', 'three'].map((token) => ({ ...toCommit(token, 'a'), organization: 'org-slow' }));
    const { requested } = await fetchOnce([...commits, toCommit('quick', 'd')], async (token, _, endTurn) => {
      if (token === 'one') endTurn();
      throw new GitHostError('not-found', 'There is no such commit');
    });
    expect(requested.toSorted()).toEqual(['one a', 'quick d', 'two a']);
  });

  it('with submodules delay no other commit, however many organizations have slow ones', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const slow = ['1', '2', '3', '4', '5'].map((token) => ({ ...toCommit(token, 'a'), withSubmodules: true }));
    const { requested } = await fetchOnce([...slow, toCommit('quick', 'b')], async (token) => {
      if (token === 'quick') resolve();
      else await promise;
      throw new GitHostError('not-found', 'There is no such commit');
    });
    expect(requested).toContain('quick b');
  });

  it('with submodules pause the repository if they take too long', async () => {
    const commits = ['a', 'b'].map((sha) => ({ ...toCommit('one', sha), withSubmodules: true }));
    const fetched = await fetchOnce(commits, async () => {
      throw new GitHostError('out-of-time', 'The host did not answer in time');
    });
    expect(fetched).toEqual({ requested: ['one a'], paused: ['submodules one acme/network'], failed: [] });
  });

  it('work on other connections while one host does not answer', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { requested } = await fetchOnce([toCommit('stuck', 'a'), toCommit('quick', 'b')], async (token) => {
      if (token === 'stuck') await promise;
      else resolve();
      throw new GitHostError('not-found', 'There is no such commit');
    });
    expect(requested).toEqual(['stuck a', 'quick b']);
  });
});

describe('pauses', () => {
  it('are removed if nobody attempts the work any more', () => {
    const clock = new FixedClock();
    let warnings = 0;
    const pauses = new Pauses(clock, { ...quiet, warn: () => void (warnings += 1) }, 1_000);
    const work = { subject: 'reading a repository', key: 'one acme/network' };
    pauses.recordFailure(work, new Error('The host failed'));
    expect(pauses.listPaused()).toEqual([work.key]);
    clock.pass({ minutes: 180 });
    pauses.removeOld();
    // Without the pause before, the failure is a first one, which is logged.
    pauses.recordFailure(work, new Error('The host failed'));
    expect(warnings).toBe(2);
  });
});
