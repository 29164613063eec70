import { describe, expect, it } from '@jest/globals';
import { MAX_TAGS } from '#vcs/git-hosts';
import { readFollowedRefs } from './followed-refs.reader.js';

const toTag = (number: number) => ({ type: 'tag' as const, name: `v${number}`, sha: `sha-${number}` });

/** Returns a repository with these tags, of which the host lists the newest, and the head of its branch. */
const openRepository = (numbers: readonly number[], head: string | null = null) => ({
  getDefaultBranch: async () => 'main',
  findHead: async () => head,
  listTags: async () => numbers.slice(0, MAX_TAGS).map(toTag),
});

const countDown = (newest: number): readonly number[] => Array.from({ length: newest + 1 }, (_, i) => newest - i);

const followTags = async (tagsRegex: string, ...lists: readonly (readonly number[])[]): Promise<readonly string[]> => {
  let refs = await readFollowedRefs(
    { repository: { branch: '', tagsRegex }, head: null, tags: {} },
    openRepository(lists[0] ?? []),
    true,
  );
  for (const numbers of lists.slice(1)) {
    refs = await readFollowedRefs({ ...refs, repository: { branch: '', tagsRegex } }, openRepository(numbers), false);
  }
  return refs.pushed.map(({ name }) => name);
};

describe('the tags of a repository', () => {
  const numbers = countDown(MAX_TAGS);

  it.each<[string, string, readonly (readonly number[])[], readonly string[]]>([
    ['are new if they were not listed before', '.', [[1], [3, 2, 1]], ['v2', 'v3']],
    ['are new at the end of a short list', '.', [[2], [2, 1]], ['v1']],
    ['are old if they are listed after a deletion', '.', [numbers, numbers.filter((n) => n !== 150)], []],
    ['are old also if few of them match', 'v(0|200)$', [numbers, numbers.filter((n) => n !== 150)], []],
    [
      'are old also after the deletion of a newer tag that was followed',
      '.',
      [numbers, countDown(MAX_TAGS + 1), numbers],
      [],
    ],
    ['are new at the start of a full list', '.', [numbers, countDown(MAX_TAGS + 1)], ['v201']],
  ])('%s', async (_, expression, lists, expected) => {
    expect(await followTags(expression, ...lists)).toEqual(expected);
  });
});

describe('the branch of a repository', () => {
  const repository = { branch: 'main', tagsRegex: null };

  it('keeps its last commit while it does not exist', async () => {
    const missing = await readFollowedRefs({ repository, head: 'a', tags: {} }, openRepository([]), false);
    expect(missing).toEqual({ head: 'a', tags: {}, pushed: [] });
    const back = await readFollowedRefs({ ...missing, repository }, openRepository([], 'a'), false);
    expect(back.pushed).toEqual([]);
    const next = await readFollowedRefs({ ...missing, repository }, openRepository([], 'b'), false);
    expect(next).toEqual({ head: 'b', tags: {}, pushed: [{ type: 'branch', name: 'main', sha: 'b' }] });
  });

  it('is new if another one was followed before', async () => {
    const refs = await readFollowedRefs({ repository, head: 'a', tags: {} }, openRepository([], 'a'), true);
    expect(refs.pushed).toHaveLength(1);
  });
});
