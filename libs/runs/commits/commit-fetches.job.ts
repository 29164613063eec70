import { Readable } from 'node:stream';
import type { Clock } from '#platform/kernel';
import type { JobRun, ScheduledJob } from '#platform/postgres';
import { readBytes, UnusableArchiveError } from '#storage/blob-store';
import type { UnfetchedCommit } from '#runs/runs';
import { GitHostError } from '#vcs/git-hosts';
import { downloadCommit, TEMPORARY_FAILURES } from './commit-archives.service.js';
import { repackCommitArchive } from './commit-archive.repacker.js';
import {
  Turns,
  forEachGroup,
  isOfConnection,
  isOutOfTime,
  openHost,
  toGroups,
  toHost,
  type CommitsJobDependencies,
  type Group,
} from './organization-turns.service.js';

const EVERY_MS = 1_000;
/** Commits that one run of the job fetches at most. The next run continues. */
const FETCHED_AT_ONCE = 200;
/** An organization gets no more fetches in a run after this time. A fetch that has begun continues until its own limit. */
const TIME_OF_ORGANIZATION_MS = 30_000;
/** All requests for a commit with submodules end in this time. */
const SUBMODULES_WITHIN_MS = 5 * 60_000;
/** A commit that could not be fetched in this time is given up. */
const FETCH_WITHIN_MS = 60 * 60_000;

type FetchDependencies = Pick<
  CommitsJobDependencies,
  'tokens' | 'hosts' | 'versions' | 'clock' | 'pauses' | 'startDeadline'
>;

/**
 * Returns the jobs that fetch the commits that become configuration versions. Only they do, so that no archive is downloaded twice,
 * and a large one delays no poll. Submodules, which can take minutes, have a job of their own: they delay no other commit.
 */
export const createCommitFetchesJobs = (dependencies: FetchDependencies): readonly ScheduledJob[] => [
  { name: 'commit_fetches', everyMs: EVERY_MS, run: (round) => fetchCommits(dependencies, round, false) },
  { name: 'submodule_fetches', everyMs: EVERY_MS, run: (round) => fetchCommits(dependencies, round, true) },
];

/** The key of a pause, which the list of unfetched commits leaves out. */
const toContent = ({ token, identifier, sha, withSubmodules }: UnfetchedCommit): string =>
  `${token} ${identifier} ${sha} ${withSubmodules}`;
const toSubmodulesKey = ({ token, identifier }: UnfetchedCommit): string => `submodules ${token} ${identifier}`;

const fetchCommits = async (dependencies: FetchDependencies, round: JobRun, withSubmodules: boolean): Promise<void> => {
  const { pauses, versions, startDeadline } = dependencies;
  const commits = await versions.listUnfetched(FETCHED_AT_ONCE, pauses.listPaused(), withSubmodules);
  const turns = new Turns(startDeadline, TIME_OF_ORGANIZATION_MS);
  await forEachGroup(turns, round, toGroups(commits, toContent), async (group) => {
    const [first] = group;
    const { token } = first;
    if ((token !== null && pauses.covers(token)) || (withSubmodules && pauses.covers(toSubmodulesKey(first)))) return;
    const commit = { subject: 'fetching a commit', key: toContent(first) };
    // The next commit of the repository would take as long.
    const repository = { subject: 'fetching submodules', key: toSubmodulesKey(first) };
    try {
      await pauses.attempt(commit, () => fetchCommit(dependencies, group));
      if (withSubmodules) pauses.recordSuccess(repository.key);
    } catch (error) {
      const work = withSubmodules && isOutOfTime(error) ? repository : commit;
      pauses.recordFailure(token !== null && isOfConnection(error) ? toHost(token) : work, error);
    }
    round.done(group.length);
  });
};

/** Fetches a commit once, for all configuration versions of it. */
const fetchCommit = async (dependencies: FetchDependencies, group: Group<UnfetchedCommit>): Promise<void> => {
  const { versions, clock, pauses } = dependencies;
  const [first] = group;
  const finishEach = async (finish: (id: string) => Promise<void>): Promise<void> => {
    for (const { id } of group) await pauses.attempt({ subject: 'storing a commit', key: id }, () => finish(id));
  };
  const failAll = (message: string): Promise<void> => finishEach((id) => versions.fail(id, message));
  const { token, serviceProvider, apiUrl, httpUrl, withSubmodules } = first;
  const isConnected = token !== null && serviceProvider !== null && apiUrl !== null;
  // Submodules are many requests. Without them, the limit of one request is enough.
  const deadline = withSubmodules ? dependencies.startDeadline(SUBMODULES_WITHIN_MS) : undefined;
  const host = isConnected ? await openHost(dependencies, { token, serviceProvider, apiUrl }, deadline) : null;
  if (!host || httpUrl === null)
    return failAll('The connection to the Git host was deleted, or the workspace may not use it any more');
  try {
    const archives = await downloadCommit(host, { ...first, httpUrl });
    const content = await readBytes(repackCommitArchive(archives));
    await finishEach((id) => versions.receive(id, Readable.from([content], { objectMode: false })));
  } catch (error) {
    const message = describeFinalFailure(error, first, clock);
    if (message === null) throw error;
    return failAll(message);
  }
};

/** Returns why a commit is never fetched; null if a later attempt may succeed. Throws other errors than those of the host. */
const describeFinalFailure = (error: unknown, { createdAt }: UnfetchedCommit, clock: Clock): string | null => {
  if (error instanceof UnusableArchiveError) return error.message;
  if (!(error instanceof GitHostError)) throw error;
  const isOld = clock.now().getTime() - Date.parse(createdAt) > FETCH_WITHIN_MS;
  return isOld || !TEMPORARY_FAILURES.includes(error.failure) ? error.message : null;
};
