import { MAX_TAGS } from '#vcs/git-hosts';
import { matchesTag, type CommitTriggers } from './commit-decision.js';
import type { RefHead, RepositoryReader } from './repository-reader.service.js';

/** The refs of a repository, as far as a workspace follows them. */
type FollowedRefs = {
  readonly head: string | null;
  /** SHAs of all listed tags by their names, also of tags that do not match. */
  readonly tags: Readonly<Record<string, string>>;
  /** New commits, in the order in which they are decided. */
  readonly pushed: readonly RefHead[];
};

type RefsReader = Pick<RepositoryReader, 'getDefaultBranch' | 'findHead' | 'listTags'>;

/** The refs that were read before. */
type RefsBefore = Pick<FollowedRefs, 'head' | 'tags'> & {
  readonly repository: Pick<CommitTriggers, 'branch' | 'tagsRegex'>;
};

const readBranch = async (before: RefsBefore, reader: RefsReader, isFirst: boolean): Promise<FollowedRefs> => {
  const name = before.repository.branch || ((await reader.getDefaultBranch()) ?? '');
  const sha = name === '' ? null : await reader.findHead(name);
  const head = isFirst ? null : before.head;
  // A branch that is missing for a while and comes back with the same commit is not pushed.
  return { head: sha ?? head, tags: {}, pushed: sha === null || sha === head ? [] : [{ type: 'branch', name, sha }] };
};

/**
 * Returns the listed tags without old ones. After the deletion of a tag, a list that was full before ends with an older
 * tag that was not listed.
 */
const dropOldTags = (listed: readonly RefHead[], before: RefsBefore['tags']): readonly RefHead[] =>
  Object.keys(before).length < MAX_TAGS
    ? listed
    : listed.slice(0, listed.findLastIndex(({ name }) => Object.hasOwn(before, name)) + 1);

const readTags = async (before: RefsBefore, reader: RefsReader, isFirst: boolean): Promise<FollowedRefs> => {
  const listed = await reader.listTags();
  const expression = before.repository.tagsRegex ?? '';
  const findMatching = (heads: readonly RefHead[]): readonly RefHead[] =>
    heads.filter(({ name }) => matchesTag(expression, name));
  const pushed = isFirst
    ? // A workspace begins with the newest tag, not with all of them.
      findMatching(listed).slice(0, 1)
    : findMatching(dropOldTags(listed, before.tags).filter(({ name, sha }) => before.tags[name] !== sha)).toReversed();
  return { head: null, tags: Object.fromEntries(listed.map(({ name, sha }) => [name, sha])), pushed };
};

/** Reads what a workspace follows, and finds what was pushed since `before`. `isFirst`: nothing was read before. */
export const readFollowedRefs = (before: RefsBefore, reader: RefsReader, isFirst: boolean): Promise<FollowedRefs> =>
  (before.repository.tagsRegex ? readTags : readBranch)(before, reader, isFirst);
