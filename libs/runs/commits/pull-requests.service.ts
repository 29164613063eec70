import type { Clock } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import type { CommitVersions } from '#runs/runs';
import { MAX_PULL_REQUESTS, type HostPullRequest } from '#vcs/git-hosts';
import { decidePullRequest } from './commit-decision.js';
import type { BoundWorkspace } from './followed-repositories.queries.js';
import type { RepositoryReader } from './repository-reader.service.js';
import { toCommitEvent, type NewVcsEvent } from './vcs-events.queries.js';

/** Pull requests of a repository with more than a list contains that the server remembers. */
const MAX_REMEMBERED = 1_000;

export type DecisionDependencies = {
  readonly database: Database;
  readonly versions: Pick<CommitVersions, 'hasCommit' | 'create' | 'endPullRequest'>;
  readonly clock: Clock;
};

type DecidedPullRequests = {
  /** SHAs of the open pull requests by their numbers; null if they were not read. */
  readonly pullRequests: Readonly<Record<string, string>> | null;
  readonly events: readonly NewVcsEvent[];
};

/** A commit that becomes a configuration version. */
type DecidedCommit = Pick<
  Parameters<CommitVersions['create']>[1]['ingress'],
  'branch' | 'tag' | 'onDefaultBranch' | 'senderUsername' | 'pullRequest'
> & { readonly sha: string; readonly startsRun: boolean };

/** Creates the configuration version of a commit. */
export const createCommitVersion = async (
  { versions }: DecisionDependencies,
  { workspace, serviceProvider, apiUrl, token }: BoundWorkspace,
  reader: RepositoryReader,
  { sha, startsRun, ...more }: DecidedCommit,
): Promise<void> => {
  const commit = await reader.getCommit(sha);
  await versions.create(workspace, {
    serviceProvider,
    apiUrl,
    startsRun,
    ingress: {
      ...more,
      identifier: reader.identifier,
      commitSha: sha,
      commitMessage: commit.message,
      commitUrl: commit.url,
      cloneUrl: commit.cloneUrl,
      oauthToken: token,
    },
  });
};

/** Decides one new commit of a pull request, and creates its speculative configuration version if it gets one. */
const decideOne = async (
  dependencies: DecisionDependencies,
  bound: BoundWorkspace,
  reader: RepositoryReader,
  { number, title, url, sha, branch, baseBranch, isFork, author }: HostPullRequest,
): Promise<NewVcsEvent> => {
  const { workspace, repository, hasRuns } = bound;
  const usesCommit = await dependencies.versions.hasCommit(workspace, { sha, pullRequest: number });
  const needsFiles = repository.fileTriggersEnabled && !isFork;
  const files = needsFiles ? await reader.listPullRequestFiles(number, sha) : null;
  const defaultBranch = (await reader.getDefaultBranch()) ?? '';
  const target = { ...repository, hasRuns, usesCommit };
  const decision = decidePullRequest(target, { baseBranch, defaultBranch, isFork, files });
  const location = `pull request ${number} of ${reader.identifier}`;
  const event = toCommitEvent(bound, sha, location, decision.runs ? null : decision.reason);
  if (!decision.runs) return event;
  await createCommitVersion(dependencies, bound, reader, {
    startsRun: true,
    sha,
    branch,
    tag: null,
    onDefaultBranch: false,
    senderUsername: author,
    pullRequest: { number, title, url },
  });
  return event;
};

/** Ends the plans of pull requests that were closed. */
const endClosed = async (
  { versions, clock }: DecisionDependencies,
  { workspace }: BoundWorkspace,
  before: Readonly<Record<string, string>>,
  open: Readonly<Record<string, string>>,
): Promise<void> => {
  for (const number of Object.keys(before)) {
    if (!Object.hasOwn(open, number)) await versions.endPullRequest(workspace, Number(number), null, clock.now());
  }
};

/** Keys that are numbers have the order of the numbers. */
const keepNewest = (pullRequests: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(pullRequests).slice(-MAX_REMEMBERED));

/**
 * Returns the open pull requests. A list of several pages can lack one: somebody changes it while the pages are read, and it
 * moves to a page that was read before. So only those are closed that a second reading does not list either.
 */
const listOpen = async (
  reader: RepositoryReader,
  before: Readonly<Record<string, string>> | null,
): Promise<readonly HostPullRequest[] | null> => {
  const listed = await reader.listPullRequests();
  if (listed === null || listed.length >= MAX_PULL_REQUESTS) return listed;
  const numbers = new Set(listed.map(({ number }) => number));
  if (Object.keys(before ?? {}).every((number) => numbers.has(Number(number)))) return listed;
  const again = await reader.listPullRequestsAgain();
  return [...listed, ...(again ?? []).filter(({ number }) => !numbers.has(number))];
};

/**
 * Decides the new commits of pull requests for a workspace. Pull requests that are open when the workspace begins start a plan
 * when they change.
 */
export const decidePullRequests = async (
  dependencies: DecisionDependencies,
  bound: BoundWorkspace,
  reader: RepositoryReader,
  isFirst: boolean,
): Promise<DecidedPullRequests> => {
  const before = isFirst ? null : bound.pullRequests;
  const hasSome = Object.keys(before ?? {}).length > 0;
  const listed = bound.repository.speculativeEnabled || hasSome ? await listOpen(reader, before) : null;
  if (listed === null) return { pullRequests: before, events: [] };
  const current = Object.fromEntries(listed.map(({ number, sha }) => [String(number), sha]));
  // A list that is full does not say which of the others were closed.
  const pullRequests = listed.length < MAX_PULL_REQUESTS ? current : keepNewest({ ...before, ...current });
  if (before === null) return { pullRequests, events: [] };
  await endClosed(dependencies, bound, before, pullRequests);
  const events: NewVcsEvent[] = [];
  for (const pullRequest of listed.filter(({ number, sha }) => before[String(number)] !== sha)) {
    events.push(await decideOne(dependencies, bound, reader, pullRequest));
    if (bound.cancelsSuperseded && Object.hasOwn(before, String(pullRequest.number))) {
      const { versions, clock } = dependencies;
      await versions.endPullRequest(bound.workspace, pullRequest.number, pullRequest.sha, clock.now());
    }
  }
  return { pullRequests, events };
};
