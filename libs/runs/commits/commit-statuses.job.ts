import type { JobRun, ScheduledJob } from '#platform/postgres';
import { GitHostError, MISSING_RIGHTS } from '#vcs/git-hosts';
import { summarizeRuns, UNTRIGGERED, type CommitStatus } from './commit-status.js';
import {
  deleteOldReports,
  deleteUnchangedRuns,
  listNewestRuns,
  listUnreportedRuns,
  storeReportedRuns,
  type UnreportedRun,
} from './commit-statuses.queries.js';
import {
  Turns,
  forEachGroup,
  isLasting,
  isOfConnection,
  isOutOfTime,
  openHost,
  toGroups,
  toHost,
  toRepositoryKey,
  type CommitsJobDependencies,
  type Group,
} from './organization-turns.service.js';
import { deleteOldUntriggeredPlans, deleteUntriggeredPlan, listUntriggeredPlans } from './untriggered-plans.queries.js';
import { storeVcsEvents } from './vcs-events.queries.js';

const EVERY_MS = 5_000;
const REPORTED_AT_ONCE = 500;
/** The time of an organization in a round. The next round continues. */
const TIME_OF_ORGANIZATION_MS = 30_000;
/** The server reports no statuses of older commits. */
const REPORTED_DAYS = 7;

type StatusesJobDependencies = CommitsJobDependencies & { readonly publicUrl: string };

/** A commit with a connection to its Git host. */
type ReportedCommit = Pick<
  UnreportedRun,
  'organization' | 'client' | 'token' | 'serviceProvider' | 'apiUrl' | 'identifier' | 'sha'
>;

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
export const createCommitStatusesJob = (dependencies: StatusesJobDependencies): ScheduledJob => {
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
      const turns = new Turns(dependencies.startDeadline, TIME_OF_ORGANIZATION_MS);
      await forEachGroup(turns, round, groups, (group, { deadline }) =>
        attemptReport(dependencies, round, group, () => reportCommit(dependencies, group, since, deadline)),
      );
      await reportUntriggered(dependencies, round, turns);
      await deleteUnchangedRuns(database, since);
      await deleteOldReports(database, since);
      await deleteOldUntriggeredPlans(database, since);
      pauses.removeOld();
    },
  };
};

/** Attempts a report about one commit. After a failure, it is paused. */
const attemptReport = async (
  { pauses }: CommitsJobDependencies,
  round: JobRun,
  group: Group<ReportedCommit>,
  report: () => Promise<void>,
): Promise<void> => {
  const [{ token, identifier, sha }] = group;
  const key = `status ${toRepositoryKey({ token, identifier })} ${sha}`;
  const commit = { subject: 'reporting the status of a commit', key };
  if (pauses.covers(token)) return;
  try {
    await pauses.attempt(commit, report);
  } catch (error) {
    if (isOutOfTime(error)) return;
    pauses.recordFailure(isOfConnection(error) ? toHost(token) : commit, error);
  }
  round.done(group.length);
};

/** Reports passing statuses of commits that start no plan in a workspace, so that the Git host can require a status for a merge. */
const reportUntriggered = async (dependencies: StatusesJobDependencies, round: JobRun, turns: Turns): Promise<void> => {
  const { database, pauses, publicUrl } = dependencies;
  const plans = await listUntriggeredPlans(database, pauses.listPaused(), REPORTED_AT_ONCE);
  const groups = toGroups(plans, ({ workspace, identifier, sha }) => [workspace, identifier, sha].join(' '));
  await forEachGroup(turns, round, groups, (group, { deadline }) =>
    attemptReport(dependencies, round, group, async () => {
      const [plan] = group;
      const { organizationName, workspaceName } = plan;
      const status = {
        ...UNTRIGGERED,
        context: `cadastre/${organizationName}/${workspaceName}`,
        url: `${publicUrl}/app/${organizationName}/workspaces/${workspaceName}`,
      };
      await setStatus(dependencies, plan, status, null, deadline);
      await deleteUntriggeredPlan(database, plan);
    }),
  );
};

const reportCommit = async (
  dependencies: StatusesJobDependencies,
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
  commit: ReportedCommit,
  status: ReportedStatus,
  lastReport: string | null,
  deadline: AbortSignal,
): Promise<string | null> => {
  const report = [status.context, status.state, status.description, status.url].join('\n');
  if (report === lastReport) return report;
  try {
    const host = await openHost(dependencies, commit, deadline);
    await host?.setStatus(commit.identifier, commit.sha, status);
    return report;
  } catch (error) {
    if (!(error instanceof GitHostError) || !isLasting(error)) throw error;
    const event = {
      organization: commit.organization,
      client: commit.client,
      workspace: null,
      level: 'error',
      message: `The status of ${commit.sha.slice(0, 12)} of ${commit.identifier} could not be reported: ${error.message}`,
      suggestedAction: MISSING_RIGHTS.includes(error.failure)
        ? 'Give the account of the connection the right to write to the repository.'
        : null,
      subject: commit.sha,
    } as const;
    await dependencies.database.rows(storeVcsEvents([event], dependencies.clock.now().toISOString()));
    return null;
  }
};
