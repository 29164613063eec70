import { Readable } from 'node:stream';
import { Backoff, type Clock, type Logger } from '#platform/kernel';
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
import { decideForWorkspace } from './pushed-commits.service.js';
import { RepositoryReader } from './repository-reader.service.js';

const EVERY_MS = 60_000;
const LONGEST_PAUSE_MS = 60 * 60_000;
/** Commits that one run of the job fetches at most. The next run continues. */
const FETCHED_AT_ONCE = 200;
/** A commit that could not be fetched in this time is given up. */
const FETCH_WITHIN_MS = 60 * 60_000;

type CommitsJobDependencies = {
  readonly database: Database;
  readonly vault: Vault;
  readonly hosts: GitHosts;
  readonly versions: CommitVersions;
  readonly clock: Clock;
  readonly logger: Logger;
};

type HostOfToken = Pick<BoundWorkspace, 'token' | 'serviceProvider' | 'apiUrl'>;

/** Failures that concern one repository. All others concern every request with the token. */
const OF_REPOSITORY: readonly GitHostError['failure'][] = ['not-found', 'forbidden', 'unexpected'];

const toGroups = <T extends BoundPosition>(rows: readonly T[]): readonly T[][] => [
  ...Map.groupBy(rows, ({ token, identifier }) => `${token} ${identifier}`).values(),
];

/** Work that is paused after a failure, as log lines describe it. */
type PausableWork = { readonly subject: string; readonly key: string };

const toHost = (token: string): PausableWork => ({ subject: 'reading a Git host', key: token });

/** Pauses of work that has failed, in this process. */
class Pauses {
  private readonly pauses = new Map<string, { readonly backoff: Backoff; readonly until: number }>();

  constructor(
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  covers(key: string): boolean {
    return (this.pauses.get(key)?.until ?? 0) > this.clock.now().getTime();
  }

  /** Does work that is not paused. After a failure it is paused, and other work continues. Errors of the Git host are thrown. */
  async attempt(work: PausableWork, attempt: () => Promise<void>): Promise<void> {
    if (this.covers(work.key)) return;
    try {
      await attempt();
      this.succeeded(work.key);
    } catch (error) {
      if (error instanceof GitHostError) throw error;
      this.failed(work, error);
    }
  }

  failed({ subject, key }: PausableWork, error: unknown): void {
    const backoff =
      this.pauses.get(key)?.backoff ??
      new Backoff({ logger: this.logger, subject, fields: { id: key }, firstMs: EVERY_MS, maxMs: LONGEST_PAUSE_MS });
    const retryAfter = error instanceof GitHostError ? (error.retryAfter ?? 0) : 0;
    const pauseMs = Math.max(backoff.failed(error), retryAfter * 1_000);
    this.pauses.set(key, { backoff, until: this.clock.now().getTime() + pauseMs });
  }

  succeeded(key: string): void {
    this.pauses.get(key)?.backoff.succeeded();
    this.pauses.delete(key);
  }
}

/**
 * Reads the branches and tags of all repositories that workspaces follow, decides new commits, and fetches the commits that become
 * configuration versions. Each step can be repeated: the id of a configuration version derives from its workspace and
 * commit.
 */
export const createRepositoryCommitsJob = (dependencies: CommitsJobDependencies): ScheduledJob => {
  const pauses = new Pauses(dependencies.clock, dependencies.logger);
  return {
    name: 'repository_commits',
    everyMs: EVERY_MS,
    run: async (round) => {
      await fetchCommits(dependencies, pauses, round);
      await readRepositories(dependencies, pauses, round);
      await fetchCommits(dependencies, pauses, round);
      await updateUnfollowed(dependencies.database);
    },
  };
};

const openHost = async (
  { vault, hosts }: CommitsJobDependencies,
  { token, serviceProvider, apiUrl }: HostOfToken,
): Promise<GitHost | null> => {
  const text = await vault.open(token);
  const provider = serviceProvider as ServiceProvider;
  return text === undefined || !isConnectedProvider(provider) ? null : hosts.open({ provider, apiUrl, token: text });
};

const readRepositories = async (dependencies: CommitsJobDependencies, pauses: Pauses, round: JobRun): Promise<void> => {
  let after: BoundPosition | undefined = { token: '', identifier: '', workspace: '' };
  while (after && !round.signal.aborted) {
    const rows: readonly (BoundWorkspace & BoundPosition)[] = await listBoundWorkspaces(dependencies.database, after);
    for (const group of toGroups(rows)) await readRepository(dependencies, pauses, round, group);
    after = rows.length < BOUND_PAGE_SIZE ? undefined : rows.at(-1);
  }
};

const readRepository = async (
  dependencies: CommitsJobDependencies,
  pauses: Pauses,
  round: JobRun,
  group: readonly (BoundWorkspace & BoundPosition)[],
): Promise<void> => {
  const [first] = group;
  if (!first || pauses.covers(first.token)) return;
  const repository = { subject: 'reading a repository', key: `${first.token} ${first.identifier}` };
  try {
    await pauses.attempt(repository, async () => {
      const host = await openHost(dependencies, first);
      if (!host) return;
      const reader = new RepositoryReader(host, first.identifier);
      for (const bound of group) {
        if (round.signal.aborted) return;
        await pauses.attempt({ subject: 'deciding the commits of a workspace', key: bound.workspace }, async () =>
          round.done(await decideForWorkspace(dependencies, bound, reader)),
        );
      }
      pauses.succeeded(first.token);
    });
  } catch (error) {
    const isOfRepository = error instanceof GitHostError && OF_REPOSITORY.includes(error.failure);
    pauses.failed(isOfRepository ? repository : toHost(first.token), error);
  }
};

const fetchCommits = async (dependencies: CommitsJobDependencies, pauses: Pauses, round: JobRun): Promise<void> => {
  const commits = await dependencies.versions.listUnfetched(FETCHED_AT_ONCE);
  const groups = Map.groupBy(
    commits.filter(({ id }) => !pauses.covers(id)),
    ({ token, identifier, sha }) => `${token} ${identifier} ${sha}`,
  );
  for (const [key, group] of groups) {
    if (round.signal.aborted) return;
    await pauses.attempt({ subject: 'fetching a commit', key }, () => fetchCommit(dependencies, pauses, group));
    round.done(group.length);
  }
};

/** Fetches a commit once, for all configuration versions of it. */
const fetchCommit = async (
  dependencies: CommitsJobDependencies,
  pauses: Pauses,
  group: readonly UnfetchedCommit[],
): Promise<void> => {
  const { versions, clock } = dependencies;
  const [first] = group;
  if (!first || (first.token !== null && pauses.covers(first.token))) return;
  const finishEach = async (finish: (id: string) => Promise<void>): Promise<void> => {
    for (const { id } of group) await pauses.attempt({ subject: 'storing a commit', key: id }, () => finish(id));
  };
  const failAll = (message: string): Promise<void> => finishEach((id) => versions.fail(id, message));
  const { token, serviceProvider, apiUrl } = first;
  const isConnected = token !== null && serviceProvider !== null && apiUrl !== null;
  const host = isConnected ? await openHost(dependencies, { token, serviceProvider, apiUrl }) : null;
  if (!host || token === null) return failAll('The connection to the Git host was deleted');
  try {
    const archive = await host.downloadArchive(first.identifier, first.sha);
    const content = await readBytes(repackCommitArchive(Readable.from([archive], { objectMode: false })));
    await finishEach((id) => versions.receive(id, Readable.from([content], { objectMode: false })));
  } catch (error) {
    const message = describeFinalFailure(error, first, clock);
    if (message !== null) return failAll(message);
    pauses.failed(toHost(token), error);
  }
};

const TEMPORARY: readonly GitHostError['failure'][] = ['unavailable', 'rate-limited', 'unauthorized'];

/** Returns why a commit is never fetched; null if a later attempt may succeed. Throws other errors than those of the host. */
const describeFinalFailure = (error: unknown, { createdAt }: UnfetchedCommit, clock: Clock): string | null => {
  if (error instanceof UnusableArchiveError) return error.message;
  if (!(error instanceof GitHostError)) throw error;
  const isOld = clock.now().getTime() - Date.parse(createdAt) > FETCH_WITHIN_MS;
  return isOld || !TEMPORARY.includes(error.failure) ? error.message : null;
};
