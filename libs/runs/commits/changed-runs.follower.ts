import type { Follower } from '#storage/event-store';
import type { RunEvent } from '#runs/runs';
import { storeChangedRuns } from './commit-statuses.queries.js';
import { storeChangedPullRequests } from './pull-request-comments.queries.js';

/** Whether the event can change the status that Git hosts have of a run. */
const CHANGES_STATUS: Readonly<Record<RunEvent['type'], boolean>> = {
  RunCreated: true,
  RunQueued: true,
  RunStageReached: true,
  RunPlanStarted: true,
  RunExecutorLost: false,
  RunPlanRequeued: true,
  RunJobRead: false,
  RunIdentityTokenIssued: false,
  RunPlanned: true,
  RunConfigurationGenerated: false,
  RunAssessed: false,
  RunPlannedAndFinished: true,
  RunPlanSaved: true,
  RunConfirmed: true,
  RunApplyQueued: true,
  RunApplyStarted: true,
  RunApplied: true,
  RunErrored: true,
  RunErroredStateStored: false,
  RunDiscarded: true,
  RunDataDeleted: false,
  RunCancelRequested: false,
  RunCanceled: true,
  RunForceCanceled: true,
  RunForceExecuted: true,
  RunCommented: false,
  RunTaskStagesCreated: true,
  RunTaskStageStarted: true,
  RunTaskResultReported: false,
  RunTaskResultErrored: false,
  RunPoliciesChosen: false,
  RunPoliciesPassed: false,
  RunPoliciesFailed: false,
  RunPoliciesErrored: false,
  RunPoliciesOverridden: false,
  RunTaskStageEnded: true,
  RunPlanQueued: true,
};

const STATUS_EVENTS = Object.entries(CHANGES_STATUS).flatMap(([type, changes]) => (changes ? type : []));

/** Lists the runs of commits whose status has changed, and their pull requests, for the jobs that report to Git hosts. */
export const changedRunsFollower: Follower = {
  name: 'changed_runs',
  batch: 500,
  only: STATUS_EVENTS,
  // It uses no names.
  keepEncrypted: true,
  tables: [],
  follow: async (events) => {
    const changed = events.filter(({ type }) => STATUS_EVENTS.includes(type));
    const times = new Map(changed.map(({ stream, time }) => [stream, time]));
    const runs = [...times].map(([run, at]) => ({ run, at }));
    return runs.length === 0 ? [] : [storeChangedRuns(runs), storeChangedPullRequests(runs)];
  },
};
