import { isDeepStrictEqual } from 'node:util';
import type { Clock, Logger } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import type { CommitVersions } from '#runs/runs';
import { decideCommit } from './commit-decision.js';
import { readFollowedRefs } from './followed-refs.reader.js';
import { SOURCE_OF_DELETED, storeFollowed, type BoundWorkspace } from './followed-repositories.queries.js';
import type { RefHead, RepositoryReader } from './repository-reader.service.js';

type DecisionDependencies = {
  readonly database: Database;
  readonly versions: Pick<CommitVersions, 'hasCommit' | 'create'>;
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
    apiUrl: bound.apiUrl,
    // A recovery starts no run by itself.
    startsRun: decision.runs && bound.source !== SOURCE_OF_DELETED,
    ingress: {
      identifier: reader.identifier,
      branch: isBranch ? ref.name : null,
      tag: isBranch ? null : ref.name,
      onDefaultBranch: isBranch && ref.name === defaultBranch,
      commitSha: ref.sha,
      commitMessage: commit.message,
      commitUrl: commit.url,
      cloneUrl: commit.cloneUrl,
      // The host does not say who has pushed.
      senderUsername: null,
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
  const { head, tags, pushed } = await readFollowedRefs(bound, reader, isFirst);
  for (const ref of pushed) await decideRef(dependencies, bound, reader, ref, isFirst);
  const isSame = !isFirst && head === bound.head && isDeepStrictEqual(tags, bound.tags);
  if (!isSame) {
    await storeFollowed(database, [{ workspace: bound.workspace, source, head, tags }], clock.now().toISOString());
  }
  return pushed.length;
};
