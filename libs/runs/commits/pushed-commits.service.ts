import type { Clock, Logger } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import type { CommitVersions } from '#runs/runs';
import { decideCommit, matchesTag } from './commit-decision.js';
import { storeFollowed, type BoundWorkspace } from './followed-repositories.queries.js';
import type { RefHead, RepositoryReader } from './repository-reader.service.js';

type DecisionDependencies = {
  readonly database: Database;
  readonly versions: CommitVersions;
  readonly clock: Clock;
  readonly logger: Logger;
};

/** What a workspace follows. With another connection, repository or ref, it begins again. */
const toSource = ({ token, repository }: BoundWorkspace): string =>
  [
    token,
    repository.identifier,
    repository.tagsRegex ? `tags ${repository.tagsRegex}` : `branch ${repository.branch}`,
  ].join('\n');

/** The refs of a repository, as far as a workspace follows them. */
type FollowedRefs = {
  readonly head: string | null;
  readonly tags: Readonly<Record<string, string>>;
  /** New commits, in the order in which they are decided. */
  readonly pushed: readonly RefHead[];
};

const readBranch = async (bound: BoundWorkspace, reader: RepositoryReader, isFirst: boolean): Promise<FollowedRefs> => {
  const name = bound.repository.branch || ((await reader.getDefaultBranch()) ?? '');
  const sha = name === '' ? null : await reader.findHead(name);
  const isNew = sha !== null && (isFirst || sha !== bound.head);
  return { head: sha, tags: {}, pushed: isNew ? [{ type: 'branch', name, sha }] : [] };
};

const readTags = async (
  { repository: { tagsRegex }, tags }: BoundWorkspace,
  reader: RepositoryReader,
  isFirst: boolean,
): Promise<FollowedRefs> => {
  const listed = await reader.listTags();
  const matching = listed.filter(({ name }) => matchesTag(tagsRegex ?? '', name));
  // A workspace begins with the newest tag, not with all of them.
  const pushed = isFirst ? matching.slice(0, 1) : matching.filter(({ name, sha }) => tags[name] !== sha).toReversed();
  return { head: null, tags: Object.fromEntries(matching.map(({ name, sha }) => [name, sha])), pushed };
};

/** Decides one commit for a workspace, and creates its configuration version if it gets one. */
const decideRef = async (
  { versions, logger }: DecisionDependencies,
  bound: BoundWorkspace,
  reader: RepositoryReader,
  ref: RefHead,
  isFirst: boolean,
): Promise<void> => {
  const { workspace, repository, isLocked, hasRuns, head } = bound;
  const isBranch = ref.type === 'branch';
  const usesCommit = await versions.hasCommit(workspace, ref.sha);
  const files = isFirst || !isBranch || head === null ? null : await reader.listChangedFiles(head, ref.sha);
  const defaultBranch = isBranch ? ((await reader.getDefaultBranch()) ?? '') : '';
  const target = { ...repository, isLocked, hasRuns, usesCommit, isFirst };
  const decision = decideCommit(target, { ref, defaultBranch, sha: ref.sha, files });
  if (!decision.runs) logger.debug({ workspace, commit: ref.sha, reason: decision.reason }, 'commit starts no run');
  if (!decision.fetches) return;
  const commit = await reader.getCommit(ref.sha);
  await versions.create(workspace, {
    serviceProvider: bound.serviceProvider,
    startsRun: decision.runs,
    ingress: {
      identifier: reader.identifier,
      branch: isBranch ? ref.name : null,
      tag: isBranch ? null : ref.name,
      onDefaultBranch: isBranch && ref.name === defaultBranch,
      commitSha: ref.sha,
      commitMessage: commit.message,
      commitUrl: commit.url,
      cloneUrl: commit.cloneUrl,
      senderUsername: commit.author,
      oauthToken: bound.token,
    },
  });
};

/** Decides the new commits of a repository for a workspace, and stores that they are decided. Returns their number. */
export const decideForWorkspace = async (
  dependencies: DecisionDependencies,
  bound: BoundWorkspace,
  reader: RepositoryReader,
): Promise<number> => {
  const { database, clock } = dependencies;
  const source = toSource(bound);
  const isFirst = bound.source !== source;
  const { head, tags, pushed } = await (bound.repository.tagsRegex ? readTags : readBranch)(bound, reader, isFirst);
  if (!isFirst && pushed.length === 0 && head === bound.head) return 0;
  for (const ref of pushed) await decideRef(dependencies, bound, reader, ref, isFirst);
  await storeFollowed(database, [{ workspace: bound.workspace, source, head, tags }], clock.now().toISOString());
  return pushed.length;
};
