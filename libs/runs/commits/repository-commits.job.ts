import { Readable } from 'node:stream';
import type { Clock, Logger, Timestamp } from '#platform/kernel';
import type { Database, JobRun, ScheduledJob } from '#platform/postgres';
import { readBytes } from '#storage/blob-store';
import type { Vault } from '#storage/vault';
import type { CommitVersions, UnfetchedCommit } from '#runs/runs';
import { GitHostError, isConnectedProvider, type GitHost, type GitHosts, type ServiceProvider } from '#vcs/git-hosts';
import { repackCommitArchive, UnusableArchiveError } from './commit-archive.repacker.js';
import {
  BOUND_PAGE_SIZE,
  listBoundWorkspaces,
  updateUnfollowed,
  type BoundPosition,
  type BoundWorkspace,
} from './followed-repositories.queries.js';
import type { Pauses, PausableWork } from './pauses.service.js';
import { decideProposals, decidePushes } from './pushed-commits.service.js';
import { RepositoryReader } from './repository-reader.service.js';
import type { RepositoryWebhooks } from './repository-webhooks.service.js';
import { deleteOldVcsEvents, storeVcsEvents } from './vcs-events.queries.js';
import type { UnusedWebhook } from './webhooks.queries.js';

const EVERY_MS = 60_000;
/** Commits that one run of the job fetches at most. The next run continues. */
const FETCHED_AT_ONCE = 200;
/** Connections that the job works on at once, so that a slow Git host does not delay the others. */
const CONNECTIONS_AT_ONCE = 4;
/** The job starts no more work on a connection after this time. The next run of the job continues. */
const TIME_OF_CONNECTION_MS = 30_000;
/** As in HCP Terraform. */
const VCS_EVENTS_DAYS = 10;
/** A commit that could not be fetched in this time is given up. */
const FETCH_WITHIN_MS = 60 * 60_000;

export type CommitsJobDependencies = {
  readonly database: Database;
  readonly vault: Pick<Vault, 'open'>;
  readonly hosts: Pick<GitHosts, 'open'>;
  readonly versions: Pick<CommitVersions, keyof CommitVersions>;
  readonly webhooks: Pick<RepositoryWebhooks, keyof RepositoryWebhooks>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** What one job has paused, the others do not attempt. */
  readonly pauses: Pauses;
};

type HostOfToken = Pick<BoundWorkspace, 'token' | 'serviceProvider' | 'apiUrl'>;

/** Failures that concern every request with the token. All others concern one repository or commit. */
const CONNECTION_FAILURES: readonly GitHostError['failure'][] = ['unauthorized', 'rate-limited'];

export const isOfConnection = (error: unknown): boolean =>
  error instanceof GitHostError && CONNECTION_FAILURES.includes(error.failure);

/** The rows of one repository or commit. */
export type Group<T> = readonly [T, ...T[]];

export const toGroups = <T>(rows: readonly T[], toKey: (row: T) => string): readonly Group<T>[] => [
  ...(Map.groupBy(rows, toKey) as Map<string, [T, ...T[]]>).values(),
];

export const toRepositoryKey = ({ token, identifier }: Pick<BoundPosition, 'token' | 'identifier'>): string =>
  `${token} ${identifier}`;
export const toHost = (token: string): PausableWork => ({ subject: 'reading a Git host', key: token });

/**
 * Reads the branches and tags of all repositories that workspaces follow, decides new commits, and fetches the commits that become
 * configuration versions. Each step can be repeated: the id of a configuration version derives from its workspace and
 * commit.
 */
export const createRepositoryCommitsJob = (dependencies: CommitsJobDependencies): ScheduledJob => {
  const { pauses } = dependencies;
  let left: ReadonlySet<string> = new Set();
  return {
    name: 'repository_commits',
    everyMs: EVERY_MS,
    run: async (round) => {
      left = await readRepositories(dependencies, pauses, round, left);
      await fetchCommits(dependencies, pauses, round);
      await updateUnfollowed(dependencies.database);
      await dependencies.webhooks.removeUnused((webhook) => openHostOfWebhook(dependencies, webhook));
      await deleteOldVcsEvents(dependencies.database, toRetentionStart(dependencies.clock), dependencies.clock.now());
      pauses.removeOld();
    },
  };
};

export const openHost = async (
  { vault, hosts }: CommitsJobDependencies,
  { token, serviceProvider, apiUrl }: HostOfToken,
): Promise<GitHost | null> => {
  const text = await vault.open(token);
  const provider = serviceProvider as ServiceProvider;
  return text === undefined || !isConnectedProvider(provider) ? null : hosts.open({ provider, apiUrl, token: text });
};

const openHostOfWebhook = async (
  dependencies: CommitsJobDependencies,
  { token, serviceProvider, apiUrl }: UnusedWebhook,
): Promise<GitHost | null> =>
  serviceProvider === null || apiUrl === null ? null : openHost(dependencies, { token, serviceProvider, apiUrl });

const toRetentionStart = (clock: Clock): Timestamp =>
  new Date(clock.now().getTime() - VCS_EVENTS_DAYS * 24 * 60 * 60_000).toISOString();

/**
 * Works on several connections at once, and on the groups of a connection one after another while there is time. Returns the
 * groups that are left.
 */
export const forEachConnection = async <T extends { readonly token: string | null }>(
  { clock }: CommitsJobDependencies,
  { signal }: JobRun,
  groups: readonly Group<T>[],
  work: (group: Group<T>) => Promise<void>,
): Promise<readonly Group<T>[]> => {
  const left: Group<T>[] = [];
  const connections = [...Map.groupBy(groups, ([{ token }]) => token).values()];
  const workOnNext = async (): Promise<void> => {
    for (let connection = connections.shift(); connection; connection = connections.shift()) {
      const end = clock.now().getTime() + TIME_OF_CONNECTION_MS;
      for (const group of connection) {
        if (signal.aborted || clock.now().getTime() >= end) left.push(group);
        else await work(group);
      }
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS_AT_ONCE }, workOnNext));
  return left;
};

/** Reads the repositories in `first` before the others of their connections. Returns the repositories for which there was no time. */
const readRepositories = async (
  dependencies: CommitsJobDependencies,
  pauses: Pauses,
  round: JobRun,
  first: ReadonlySet<string>,
): Promise<ReadonlySet<string>> => {
  const left = new Set<string>();
  let after: BoundPosition | undefined = { token: '', identifier: '', workspace: '' };
  while (after && !round.signal.aborted) {
    const rows: readonly (BoundWorkspace & BoundPosition)[] = await listBoundWorkspaces(dependencies.database, after);
    const isLater = ([row]: Group<BoundPosition>): number => (first.has(toRepositoryKey(row)) ? 0 : 1);
    const groups = toGroups(rows, toRepositoryKey).toSorted((one, other) => isLater(one) - isLater(other));
    const unread = await forEachConnection(dependencies, round, groups, (group) =>
      readRepository(dependencies, pauses, round, group),
    );
    for (const [row] of unread) left.add(toRepositoryKey(row));
    after = rows.length < BOUND_PAGE_SIZE ? undefined : rows.at(-1);
  }
  return left;
};

export const readRepository = async (
  dependencies: CommitsJobDependencies,
  pauses: Pauses,
  round: JobRun,
  group: Group<BoundWorkspace & BoundPosition>,
): Promise<void> => {
  const [first] = group;
  if (pauses.covers(first.token)) return;
  const repository = { subject: 'reading a repository', key: toRepositoryKey(first) };
  try {
    await pauses.attempt(repository, async () => {
      const host = await openHost(dependencies, first);
      if (!host) return;
      await dependencies.webhooks.ensure(host, first);
      const reader = new RepositoryReader(host, first.identifier, dependencies.clock.now());
      for (const bound of group) {
        if (round.signal.aborted) return;
        await decideForWorkspace(dependencies, pauses, round, bound, reader);
      }
      pauses.recordSuccess(first.token);
      if (reader.refusal) await reportRefusal(dependencies, first, reader.refusal);
    });
  } catch (error) {
    pauses.recordFailure(isOfConnection(error) ? toHost(first.token) : repository, error);
  }
};

/** Reports once a day that the account may not read the pull requests of a repository. */
const reportRefusal = async (
  { database, clock }: CommitsJobDependencies,
  { organization, client, identifier }: BoundWorkspace & BoundPosition,
  error: GitHostError,
): Promise<void> => {
  const now = clock.now().toISOString();
  const event = {
    organization,
    client,
    workspace: null,
    level: 'error',
    message: `The pull requests of ${identifier} cannot be read: ${error.message}`,
    suggestedAction: 'Give the account of the connection the right to read pull requests of the repository.',
    subject: now.slice(0, 10),
  } as const;
  await database.rows(storeVcsEvents([event], now));
};

/**
 * Decides the commits of a workspace. A failure pauses only the workspace, because it may concern one commit, and pull requests
 * that fail do not delay pushes. Failures that concern the connection are thrown.
 */
const decideForWorkspace = async (
  dependencies: CommitsJobDependencies,
  pauses: Pauses,
  round: JobRun,
  bound: BoundWorkspace,
  reader: RepositoryReader,
): Promise<void> => {
  const attempt = async (work: PausableWork, decide: typeof decidePushes): Promise<void> => {
    try {
      await pauses.attempt(work, async () => round.done(await decide(dependencies, bound, reader)));
    } catch (error) {
      if (isOfConnection(error)) throw error;
      pauses.recordFailure(work, error);
    }
  };
  const { workspace } = bound;
  await attempt({ subject: 'deciding the commits of a workspace', key: workspace }, decidePushes);
  await attempt(
    { subject: 'deciding the pull requests of a workspace', key: `${workspace} pull requests` },
    decideProposals,
  );
};

export const fetchCommits = async (
  dependencies: CommitsJobDependencies,
  pauses: Pauses,
  round: JobRun,
): Promise<void> => {
  const commits = await dependencies.versions.listUnfetched(FETCHED_AT_ONCE, pauses.listPaused());
  const toKey = ({ token, identifier, sha }: UnfetchedCommit): string => `${token} ${identifier} ${sha}`;
  await forEachConnection(dependencies, round, toGroups(commits, toKey), async (group) => {
    const [{ token }] = group;
    if (token !== null && pauses.covers(token)) return;
    const commit = { subject: 'fetching a commit', key: toKey(group[0]) };
    try {
      await pauses.attempt(commit, () => fetchCommit(dependencies, pauses, group));
    } catch (error) {
      pauses.recordFailure(token !== null && isOfConnection(error) ? toHost(token) : commit, error);
    }
    round.done(group.length);
  });
};

/** Fetches a commit once, for all configuration versions of it. */
const fetchCommit = async (
  dependencies: CommitsJobDependencies,
  pauses: Pauses,
  group: Group<UnfetchedCommit>,
): Promise<void> => {
  const { versions, clock } = dependencies;
  const [first] = group;
  const finishEach = async (finish: (id: string) => Promise<void>): Promise<void> => {
    for (const { id } of group) await pauses.attempt({ subject: 'storing a commit', key: id }, () => finish(id));
  };
  const failAll = (message: string): Promise<void> => finishEach((id) => versions.fail(id, message));
  const { token, serviceProvider, apiUrl } = first;
  const isConnected = token !== null && serviceProvider !== null && apiUrl !== null;
  const host = isConnected ? await openHost(dependencies, { token, serviceProvider, apiUrl }) : null;
  if (!host || token === null)
    return failAll('The connection to the Git host was deleted, or the workspace may not use it any more');
  try {
    const archive = await host.downloadArchive(first.identifier, first.sha);
    const content = await readBytes(repackCommitArchive(Readable.from([archive], { objectMode: false })));
    await finishEach((id) => versions.receive(id, Readable.from([content], { objectMode: false })));
  } catch (error) {
    const message = describeFinalFailure(error, first, clock);
    if (message === null) throw error;
    return failAll(message);
  }
};

const TEMPORARY_FAILURES: readonly GitHostError['failure'][] = ['unavailable', 'rate-limited', 'unauthorized'];

/** Returns why a commit is never fetched; null if a later attempt may succeed. Throws other errors than those of the host. */
const describeFinalFailure = (error: unknown, { createdAt }: UnfetchedCommit, clock: Clock): string | null => {
  if (error instanceof UnusableArchiveError) return error.message;
  if (!(error instanceof GitHostError)) throw error;
  const isOld = clock.now().getTime() - Date.parse(createdAt) > FETCH_WITHIN_MS;
  return isOld || !TEMPORARY_FAILURES.includes(error.failure) ? error.message : null;
};
