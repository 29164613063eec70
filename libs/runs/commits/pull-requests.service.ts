import type { Clock, Timestamp } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import type { CommitVersions } from '#runs/runs';
import { MAX_PULL_REQUESTS, type HostPullRequest } from '#vcs/git-hosts';
import { decidePullRequest, isUntriggered } from './commit-decision.js';
import type { BoundWorkspace, DecidedPullRequest } from './followed-repositories.queries.js';
import type { RepositoryReader } from './repository-reader.service.js';
import { toCommitEvent, type NewVcsEvent } from './vcs-events.queries.js';

/** Pull requests of a repository with more than a list contains that the server remembers. */
const MAX_REMEMBERED = 1_000;
/** Closed pull requests that the server remembers. A commit of an older one is a duplicate if it is reopened. */
const MAX_CLOSED = 50;

export type DecisionDependencies = {
  readonly database: Database;
  readonly versions: Pick<CommitVersions, 'findCommit' | 'create' | 'endPullRequest'>;
  readonly clock: Clock;
};

type PullRequests = Readonly<Record<string, DecidedPullRequest>>;

type PullRequestDecisions = {
  /** As `BoundWorkspace` has them. */
  readonly pullRequests: BoundWorkspace['pullRequests'];
  readonly events: readonly NewVcsEvent[];
  /** SHAs of commits that get no plan, because they change no file that concerns the workspace. */
  readonly untriggered: readonly string[];
  /** What has ended the decisions before the last pull request; null if all are decided. */
  readonly failure: { readonly error: unknown } | null;
};

type PullRequestDecision = {
  readonly event: NewVcsEvent;
  /** As in `PullRequestDecisions`. */
  readonly untriggered: readonly string[];
};

/** A commit that becomes a configuration version. */
type DecidedCommit = Pick<
  Parameters<CommitVersions['create']>[1]['ingress'],
  'branch' | 'tag' | 'onDefaultBranch' | 'senderUsername' | 'pullRequest'
> & { readonly sha: string; readonly startsRun: boolean; readonly attempt: number };

/**
 * Whether a configuration version was created after the decisions that are stored: by another job at the same time, or by a process
 * that has ended before it stored its decision.
 */
export const isNewerThan = (
  { createdAt }: { readonly createdAt: Timestamp | null },
  { readAt }: Pick<BoundWorkspace, 'readAt'>,
): boolean => createdAt !== null && (readAt === null || Date.parse(createdAt) > Date.parse(readAt));

/** Creates the configuration version of a commit. */
export const createCommitVersion = async (
  { versions }: DecisionDependencies,
  { workspace, serviceProvider, apiUrl, token }: BoundWorkspace,
  reader: RepositoryReader,
  { sha, startsRun, attempt, ...more }: DecidedCommit,
): Promise<void> => {
  const commit = await reader.getCommit(sha);
  await versions.create(workspace, {
    serviceProvider,
    apiUrl,
    startsRun,
    attempt,
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
  attempt: number,
): Promise<PullRequestDecision> => {
  const { workspace, repository, hasRuns } = bound;
  const used = await dependencies.versions.findCommit(workspace, { sha, pullRequest: number, attempt });
  const usesCommit = used !== null && !isNewerThan(used, bound);
  const needsFiles = repository.fileTriggersEnabled && !isFork;
  const files = needsFiles ? await reader.listPullRequestFiles(number, sha) : null;
  const defaultBranch = (await reader.getDefaultBranch()) ?? '';
  const target = { ...repository, hasRuns, usesCommit };
  const decision = decidePullRequest(target, { baseBranch, defaultBranch, isFork, files });
  const location = `pull request ${number} of ${reader.identifier}`;
  const event = toCommitEvent(bound, sha, location, decision.runs ? null : decision.reason);
  if (!decision.runs) return { event, untriggered: isUntriggered(decision) ? [sha] : [] };
  await createCommitVersion(dependencies, bound, reader, {
    startsRun: true,
    attempt,
    sha,
    branch,
    tag: null,
    onDefaultBranch: false,
    senderUsername: author,
    pullRequest: { number, title, url },
  });
  return { event, untriggered: [] };
};

/** Keys that are numbers have the order of the numbers. */
const keepNewest = (pullRequests: PullRequests, most: number): PullRequests =>
  Object.fromEntries(Object.entries(pullRequests).slice(-most));

const filterOpen = (pullRequests: PullRequests): PullRequests =>
  Object.fromEntries(Object.entries(pullRequests).filter(([, { isOpen }]) => isOpen));

const parseStored = (stored: NonNullable<BoundWorkspace['pullRequests']>): PullRequests =>
  Object.fromEntries(
    Object.entries(stored).map(([number, value]) => [
      number,
      typeof value === 'string' ? { sha: value, baseBranch: null, attempt: 1, isOpen: true } : value,
    ]),
  );

/** Whether a pull request needs no decision. A base branch that an earlier version did not store is that of now. */
const isDecided = ({ sha, baseBranch }: HostPullRequest, previous: DecidedPullRequest | undefined): boolean =>
  previous?.sha === sha && previous.isOpen && (previous.baseBranch ?? baseBranch) === baseBranch;

const toDecided = (pullRequest: HostPullRequest, previous: DecidedPullRequest | undefined): DecidedPullRequest => {
  const { sha, baseBranch } = pullRequest;
  const before = previous?.attempt ?? 0;
  const attempt = isDecided(pullRequest, previous) ? before : before + 1;
  return { sha, baseBranch, attempt, isOpen: true };
};

/**
 * Returns the open pull requests. A list of several pages can lack one: somebody changes it while the pages are read, and it
 * moves to a page that was read before. So only those are closed that a second reading does not list either.
 */
const listOpen = async (reader: RepositoryReader, open: PullRequests): Promise<readonly HostPullRequest[] | null> => {
  const listed = await reader.listPullRequests();
  if (listed === null || listed.length >= MAX_PULL_REQUESTS) return listed;
  const numbers = new Set(listed.map(({ number }) => number));
  if (Object.keys(open).every((number) => numbers.has(Number(number)))) return listed;
  const again = await reader.listPullRequestsAgain();
  return [...listed, ...(again ?? []).filter(({ number }) => !numbers.has(number))];
};

/** Ends the plans of pull requests that were closed. Returns all that the server remembers. */
const endClosed = async (
  { versions, clock }: DecisionDependencies,
  { workspace }: BoundWorkspace,
  before: PullRequests,
  open: PullRequests,
): Promise<PullRequests> => {
  const notOpen = Object.entries(before).filter(([number]) => !Object.hasOwn(open, number));
  for (const [number, { isOpen }] of notOpen)
    if (isOpen) await versions.endPullRequest(workspace, Number(number), null, clock.now());
  const closed = Object.fromEntries(notOpen.map(([number, decided]) => [number, { ...decided, isOpen: false }]));
  return { ...keepNewest(closed, MAX_CLOSED), ...open };
};

/** Decides pull requests that are new or have changed, one after another. Returns what remains to be decided after a failure. */
const decideChanged = async (
  dependencies: DecisionDependencies,
  bound: BoundWorkspace,
  reader: RepositoryReader,
  changed: readonly HostPullRequest[],
  before: PullRequests,
) => {
  const { versions, clock } = dependencies;
  const decided: PullRequestDecision[] = [];
  try {
    for (const pullRequest of changed) {
      const { number, sha } = pullRequest;
      const previous = before[String(number)];
      const { attempt } = toDecided(pullRequest, previous);
      const decision = await decideOne(dependencies, bound, reader, pullRequest, attempt);
      if (bound.cancelsSuperseded && previous) {
        const newest = { sha, pullRequest: number, attempt };
        await versions.endPullRequest(bound.workspace, number, newest, clock.now());
      }
      decided.push(decision);
    }
    return { decided, left: [], failure: null };
  } catch (error) {
    return { decided, left: changed.slice(decided.length), failure: { error } };
  }
};

const NOTHING_DECIDED = { events: [], untriggered: [], failure: null } as const;

/**
 * Decides the new commits of pull requests for a workspace. Pull requests that are open when the workspace begins start a plan
 * when they change.
 */
export const decidePullRequests = async (
  dependencies: DecisionDependencies,
  bound: BoundWorkspace,
  reader: RepositoryReader,
  isFirst: boolean,
): Promise<PullRequestDecisions> => {
  const before = isFirst || bound.pullRequests === null ? null : parseStored(bound.pullRequests);
  const openBefore = filterOpen(before ?? {});
  const isRead = bound.repository.speculativeEnabled || Object.keys(openBefore).length > 0;
  const listed = isRead ? await listOpen(reader, openBefore) : null;
  if (listed === null) return { ...NOTHING_DECIDED, pullRequests: isFirst ? null : bound.pullRequests };
  const current = Object.fromEntries(
    listed.map((pullRequest) => [
      String(pullRequest.number),
      toDecided(pullRequest, before?.[String(pullRequest.number)]),
    ]),
  );
  // A list that is full does not say which of the others were closed.
  const isFull = listed.length >= MAX_PULL_REQUESTS;
  const open = isFull ? keepNewest({ ...openBefore, ...current }, MAX_REMEMBERED) : current;
  if (before === null) return { ...NOTHING_DECIDED, pullRequests: open };
  const all = await endClosed(dependencies, bound, before, open);
  const changed = listed.filter((pullRequest) => !isDecided(pullRequest, before[String(pullRequest.number)]));
  const { decided, left, failure } = await decideChanged(dependencies, bound, reader, changed, before);
  const undecided = new Set(left.map(({ number }) => String(number)));
  const present = Object.entries(all).filter(([number]) => !undecided.has(number));
  const asBefore = Object.entries(before).filter(([number]) => undecided.has(number));
  return {
    pullRequests: Object.fromEntries([...present, ...asBefore]),
    events: decided.map(({ event }) => event),
    untriggered: decided.flatMap(({ untriggered }) => untriggered),
    failure,
  };
};
