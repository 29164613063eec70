import { isDeepStrictEqual } from 'node:util';
import type { Clock, Logger } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import type { CommitVersions } from '#runs/runs';
import { decideCommit } from './commit-decision.js';
import { readFollowedRefs } from './followed-refs.reader.js';
import { SOURCE_OF_DELETED, storeFollowed, type BoundWorkspace } from './followed-repositories.queries.js';
import type { RefHead, RepositoryReader } from './repository-reader.service.js';
import { storeVcsEvents, type NewVcsEvent } from './vcs-events.queries.js';

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

/** `reason`: why the commit starts no run; null if it starts one. */
const toVcsEvent = (
  { organization, client, workspace, workspaceName }: BoundWorkspace,
  { identifier }: RepositoryReader,
  { type, name, sha }: RefHead,
  reason: string | null,
): NewVcsEvent => {
  const commit = `${sha.slice(0, 12)} of the ${type} ${name} of ${identifier}`;
  return {
    organization,
    client,
    workspace,
    level: 'info',
    message:
      reason === null
        ? `Workspace ${workspaceName} runs the commit ${commit}`
        : `Workspace ${workspaceName} does not run the commit ${commit}: ${reason}`,
    suggestedAction: null,
    subject: sha,
  };
};

/** Decides one commit for a workspace, and creates its configuration version if it gets one. */
const decideRef = async (
  { versions, logger }: DecisionDependencies,
  bound: BoundWorkspace,
  reader: RepositoryReader,
  ref: RefHead,
  isFirst: boolean,
): Promise<NewVcsEvent> => {
  const { workspace, repository, isLocked, hasRuns, head } = bound;
  const isBranch = ref.type === 'branch';
  const usesCommit = await versions.hasCommit(workspace, ref.sha);
  const files = isFirst || !isBranch || head === null ? null : await reader.listChangedFiles(head, ref.sha);
  const defaultBranch = isBranch ? ((await reader.getDefaultBranch()) ?? '') : '';
  const target = { ...repository, isLocked, hasRuns, usesCommit, isFirst };
  const decision = decideCommit(target, { ref, defaultBranch, sha: ref.sha, files });
  if (!decision.runs) logger.debug({ workspace, commit: ref.sha, reason: decision.reason }, 'commit starts no run');
  const startsRun = decision.runs && bound.source !== SOURCE_OF_DELETED;
  const reason = decision.runs ? 'The workspace was recovered' : decision.reason;
  const event = toVcsEvent(bound, reader, ref, startsRun ? null : reason);
  if (!decision.fetches) return event;
  const commit = await reader.getCommit(ref.sha);
  await versions.create(workspace, {
    serviceProvider: bound.serviceProvider,
    apiUrl: bound.apiUrl,
    // A recovery starts no run by itself.
    startsRun,
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
  return event;
};

/** Decides the new commits of a repository for a workspace, and stores that they are decided. Returns their number. */
export const decideForWorkspace = async (
  dependencies: DecisionDependencies,
  bound: BoundWorkspace,
  reader: RepositoryReader,
): Promise<number> => {
  const { database, clock } = dependencies;
  const events: NewVcsEvent[] = [];
  const source = toSource(bound);
  const isFirst = bound.source !== source;
  const { head, tags, pushed } = await readFollowedRefs(bound, reader, isFirst);
  for (const ref of pushed) events.push(await decideRef(dependencies, bound, reader, ref, isFirst));
  const isSame = !isFirst && head === bound.head && isDeepStrictEqual(tags, bound.tags);
  if (!isSame) {
    await database.transaction([
      storeVcsEvents(events, clock.now().toISOString()),
      storeFollowed([{ workspace: bound.workspace, source, head, tags }], reader.startedAt.toISOString()),
    ]);
  }
  return pushed.length;
};
