import { isDeepStrictEqual } from 'node:util';
import { decideCommit } from './commit-decision.js';
import { readFollowedRefs } from './followed-refs.reader.js';
import {
  SOURCE_OF_DELETED,
  storeFollowed,
  storePullRequests,
  type BoundWorkspace,
} from './followed-repositories.queries.js';
import {
  createCommitVersion,
  decidePullRequests,
  isNewerThan,
  type DecisionDependencies,
} from './pull-requests.service.js';
import type { RefHead, RepositoryReader } from './repository-reader.service.js';
import { storeUntriggeredPlans } from './untriggered-plans.queries.js';
import { storeVcsEvents, toCommitEvent, type NewVcsEvent } from './vcs-events.queries.js';

/** What a workspace follows. With another connection, repository or ref, it begins again. */
const toSource = ({ token, repository }: BoundWorkspace): string =>
  [
    token,
    repository.identifier,
    repository.tagsRegex ? `tags ${repository.tagsRegex}` : `branch ${repository.branch}`,
  ].join('\n');

/** Returns whether an earlier decision has used the commit for the workspace. */
const isDuplicate = async (
  { versions }: DecisionDependencies,
  bound: BoundWorkspace,
  { type, name, sha }: RefHead,
): Promise<boolean> => {
  const used = await versions.findCommit(bound.workspace, { sha, pullRequest: null, attempt: 1 });
  if (used === null) return false;
  const isOfRef = (type === 'branch' ? used.branch : used.tag) === name;
  return !(isOfRef && isNewerThan(used, bound));
};

/** Decides one commit for a workspace, and creates its configuration version if it gets one. */
const decideRef = async (
  dependencies: DecisionDependencies,
  bound: BoundWorkspace,
  reader: RepositoryReader,
  ref: RefHead,
  isFirst: boolean,
): Promise<NewVcsEvent> => {
  const { repository, isLocked, hasRuns, head } = bound;
  const isBranch = ref.type === 'branch';
  const usesCommit = await isDuplicate(dependencies, bound, ref);
  const files = isFirst || !isBranch || head === null ? null : await reader.listChangedFiles(head, ref.sha);
  const defaultBranch = isBranch ? ((await reader.getDefaultBranch()) ?? '') : '';
  const target = { ...repository, isLocked, hasRuns, usesCommit, isFirst };
  const decision = decideCommit(target, { ref, defaultBranch, sha: ref.sha, files });
  const startsRun = decision.runs && bound.source !== SOURCE_OF_DELETED;
  const reason = decision.runs ? 'The workspace was recovered' : decision.reason;
  const location = `the ${ref.type} ${ref.name} of ${reader.identifier}`;
  const event = toCommitEvent(bound, ref.sha, location, startsRun ? null : reason);
  if (!decision.fetches) return event;
  await createCommitVersion(dependencies, bound, reader, {
    // A recovery starts no run by itself.
    startsRun,
    attempt: 1,
    sha: ref.sha,
    branch: isBranch ? ref.name : null,
    tag: isBranch ? null : ref.name,
    onDefaultBranch: isBranch && ref.name === defaultBranch,
    // The host does not say who has pushed.
    senderUsername: null,
    pullRequest: null,
  });
  return event;
};

/** Returns the tags, those that are not decided as they were before. */
const omitUndecided = (
  tags: BoundWorkspace['tags'],
  before: BoundWorkspace['tags'],
  undecided: readonly RefHead[],
): BoundWorkspace['tags'] => {
  const names = new Set(undecided.map(({ name }) => name));
  return Object.fromEntries([
    ...Object.entries(tags).filter(([name]) => !names.has(name)),
    ...Object.entries(before).filter(([name]) => names.has(name)),
  ]);
};

/** Decides the new commits of branches and tags for a workspace, and stores that they are decided. Returns their number. */
export const decidePushes = async (
  dependencies: DecisionDependencies,
  bound: BoundWorkspace,
  reader: RepositoryReader,
): Promise<number> => {
  const { database, clock } = dependencies;
  const { workspace } = bound;
  const source = toSource(bound);
  const isFirst = bound.source !== source;
  const { head, tags, pushed } = await readFollowedRefs(bound, reader, isFirst);
  const pushes: NewVcsEvent[] = [];
  const store = async (decidedTags: BoundWorkspace['tags']): Promise<void> => {
    const pullRequests = isFirst ? null : bound.pullRequests;
    await database.transaction([
      storeVcsEvents(pushes, clock.now().toISOString()),
      storeFollowed([{ workspace, source, head, tags: decidedTags, pullRequests }], reader.startedAt.toISOString()),
    ]);
  };
  try {
    for (const ref of pushed) pushes.push(await decideRef(dependencies, bound, reader, ref, isFirst));
  } catch (error) {
    // Only tags are several. The next reading continues with those that are left.
    if (pushes.length > 0) await store(omitUndecided(tags, bound.tags, pushed.slice(pushes.length)));
    throw error;
  }
  const before = { head: bound.head, tags: bound.tags };
  if (isFirst || !isDeepStrictEqual({ head, tags }, before)) await store(tags);
  return pushes.length;
};

/** Decides the new commits of pull requests like `decidePushes`, which precedes it. */
export const decideProposals = async (
  dependencies: DecisionDependencies,
  bound: BoundWorkspace,
  reader: RepositoryReader,
): Promise<number> => {
  const { database, clock } = dependencies;
  const source = toSource(bound);
  const isFirst = bound.source !== source;
  const { pullRequests, events, untriggered, failure } = await decidePullRequests(dependencies, bound, reader, isFirst);
  if (!isDeepStrictEqual(pullRequests, isFirst ? null : bound.pullRequests)) {
    const followed = { workspace: bound.workspace, source, pullRequests };
    await database.transaction([
      storeVcsEvents(events, clock.now().toISOString()),
      storePullRequests(followed, reader.startedAt.toISOString()),
      storeUntriggeredPlans(bound, untriggered, clock.now().toISOString()),
    ]);
  }
  if (failure) throw failure.error;
  return events.length;
};
