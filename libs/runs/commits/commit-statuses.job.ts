import type { ScheduledJob } from '#platform/postgres';
import { GitHostError, MISSING_RIGHTS } from '#vcs/git-hosts';
import { summarizeRuns, type CommitStatus } from './commit-status.js';
import {
  deleteOldReports,
  listNewestRuns,
  listUnreportedRuns,
  storeReportedRuns,
  type UnreportedRun,
} from './commit-statuses.queries.js';
import {
  ConnectionTurns,
  forEachConnection,
  isOfConnection,
  isOutOfTime,
  openHost,
  toGroups,
  toHost,
  toRepositoryKey,
  type CommitsJobDependencies,
  type Group,
} from './connection-turns.service.js';
import { storeVcsEvents } from './vcs-events.queries.js';

const EVERY_MS = 5_000;
const REPORTED_AT_ONCE = 500;
/** The time of a connection in a round. The next round continues. */
const TIME_OF_CONNECTION_MS = 30_000;
/** Statuses of older commits interest nobody any more. */
const REPORTED_DAYS = 7;

/** Failures that another attempt does not correct. */
const LASTING_FAILURES: readonly GitHostError['failure'][] = [...MISSING_RIGHTS, 'unexpected'];

type ReportedStatus = CommitStatus & { readonly context: string; readonly url: string };

/** `runs`: the newest run of each workspace that the status is about. */
const toReportedStatus = (publicUrl: string, runs: Group<UnreportedRun>): ReportedStatus => {
  const [{ organizationName, workspaceName, id, isAggregated }] = runs;
  const organization = `${publicUrl}/app/${organizationName}`;
  return {
    ...summarizeRuns(runs),
    context: isAggregated ? `cadastre/${organizationName}` : `cadastre/${organizationName}/${workspaceName}`,
    url: runs.length === 1 ? `${organization}/workspaces/${workspaceName}/runs/${id}` : `${organization}/runs`,
  };
};

/**
 * Reports the status of the runs of commits to their Git hosts. Runs never wait for it: it compares what the host has got with the
 * present statuses, and a report that fails is repeated after a pause.
 */
export const createCommitStatusesJob = (
  dependencies: CommitsJobDependencies & { readonly publicUrl: string },
): ScheduledJob => {
  const { database, clock, pauses } = dependencies;
  return {
    name: 'commit_statuses',
    everyMs: EVERY_MS,
    run: async (round) => {
      const since = new Date(clock.now().getTime() - REPORTED_DAYS * 24 * 60 * 60_000).toISOString();
      const runs = await listUnreportedRuns(database, since, pauses.listPaused(), REPORTED_AT_ONCE);
      const groups = toGroups(runs, (row) =>
        [row.token, row.identifier, row.sha, row.organization, row.isAggregated ? '' : row.workspaceName].join(' '),
      );
      const turns = new ConnectionTurns(dependencies.startDeadline, TIME_OF_CONNECTION_MS);
      await forEachConnection(turns, round, groups, async (group, { deadline }) => {
        const [first] = group;
        const commit = {
          subject: 'reporting the status of a commit',
          key: `status ${toRepositoryKey(first)} ${first.sha}`,
        };
        if (pauses.covers(first.token)) return;
        try {
          await pauses.attempt(commit, () => reportCommit(dependencies, group, since, deadline));
        } catch (error) {
          if (isOutOfTime(error)) return;
          pauses.recordFailure(isOfConnection(error) ? toHost(first.token) : commit, error);
        }
        round.done(group.length);
      });
      await deleteOldReports(database, since);
      pauses.removeOld();
    },
  };
};

const reportCommit = async (
  dependencies: CommitsJobDependencies & { readonly publicUrl: string },
  group: Group<UnreportedRun>,
  since: string,
  deadline: AbortSignal,
): Promise<void> => {
  const { database, clock, publicUrl } = dependencies;
  const [first] = group;
  const [newest = first, ...others] = await listNewestRuns(
    database,
    first,
    first.isAggregated ? null : first.workspaceName,
    since,
  );
  const runs: Group<UnreportedRun> = [newest, ...others];
  const reported = await setStatus(dependencies, first, toReportedStatus(publicUrl, runs), newest.report, deadline);
  // Older runs have no part in the status, and are not read again.
  const rows = new Map([...group, ...runs].map((run) => [run.id, run]));
  await database.rows(storeReportedRuns([...rows.values()], reported, clock.now().toISOString()));
};

/** Reports a status that differs from the last one. Returns what the host has got; null if it refuses the status. */
const setStatus = async (
  dependencies: CommitsJobDependencies,
  run: UnreportedRun,
  status: ReportedStatus,
  lastReport: string | null,
  deadline: AbortSignal,
): Promise<string | null> => {
  const report = [status.context, status.state, status.description, status.url].join('\n');
  if (report === lastReport) return report;
  try {
    const host = await openHost(dependencies, run, deadline);
    await host?.setStatus(run.identifier, run.sha, status);
    return report;
  } catch (error) {
    if (!(error instanceof GitHostError) || !LASTING_FAILURES.includes(error.failure)) throw error;
    const event = {
      organization: run.organization,
      client: run.client,
      workspace: null,
      level: 'error',
      message: `The status of ${run.sha.slice(0, 12)} of ${run.identifier} could not be reported: ${error.message}`,
      suggestedAction: MISSING_RIGHTS.includes(error.failure)
        ? 'Give the account of the connection the right to write to the repository.'
        : null,
      subject: run.sha,
    } as const;
    await dependencies.database.rows(storeVcsEvents([event], dependencies.clock.now().toISOString()));
    return null;
  }
};
