import {
  updateSubject,
  type DataOf,
  type HistoryChange,
  type HistoryLookup,
  type HistoryRule,
  type OrganizationRecordedEvent,
  type RunHistory,
} from '#platform/kernel';
import { ASSESSMENT, type RunEvent } from './run-event.js';
import { STATUS_AFTER, waitsForWorkspace } from './run-state.js';
import { COUNTED_STATUSES, FINAL_STATUSES, type RunStatus } from './run-status.js';

/** Uses the rule by which the inline view chooses the current run (libs/runs/runs/runs.projection.ts). */
const toCurrentRunChange = (lookup: HistoryLookup, workspace: string, run: string): readonly HistoryChange[] =>
  lookup.of(workspace)?.['currentRun'] === run ? [] : updateSubject(workspace, { currentRun: run });

const isBusy = (lookup: HistoryLookup, workspace: string): boolean => {
  const run = (lookup.of(workspace)?.['currentRun'] ?? null) as string | null;
  return run !== null && !FINAL_STATUSES.includes(lookup.run(run)?.status as RunStatus);
};

export const beginRun = (
  { workspace, source, options }: Pick<DataOf<RunEvent, 'RunCreated'>, 'workspace' | 'source' | 'options'>,
  { stream, organization, time }: OrganizationRecordedEvent,
  lookup: HistoryLookup,
): readonly HistoryChange[] => {
  if (source === ASSESSMENT) return [];
  const queues = waitsForWorkspace(options);
  const status = STATUS_AFTER.RunCreated;
  const run = { run: stream, workspace, organization, queues, createdAt: time, finishedAt: null };
  return [
    { run: { ...run, status, reached: { [status]: time } } },
    ...(queues && !isBusy(lookup, workspace) ? toCurrentRunChange(lookup, workspace, stream) : []),
  ];
};

export const reachStatus = (
  status: RunStatus,
  { stream, time }: OrganizationRecordedEvent,
  lookup: HistoryLookup,
): readonly HistoryChange[] => {
  const run = lookup.run(stream);
  if (!run) return [];
  const finishedAt = COUNTED_STATUSES.includes(status) ? time : run.finishedAt;
  return [{ run: { ...run, status, reached: { ...run.reached, [status]: time }, finishedAt } }];
};

/** The plan has not started, until the next executor starts it. */
export const requeuePlan: HistoryRule<unknown> = (_, event, lookup) =>
  reachStatus(STATUS_AFTER.RunPlanRequeued, event, lookup).map((change) => {
    if (!('run' in change)) return change;
    const { planning: _planning, ...reached } = change.run.reached;
    return { run: { ...change.run, reached } };
  });

/** Returns a rule by which the run reaches the status that follows from the type of the event. */
export const reachNext =
  (type: keyof typeof STATUS_AFTER): HistoryRule<unknown> =>
  (_, event, lookup) =>
    reachStatus(STATUS_AFTER[type], event, lookup);

/** Returns a rule like `reachNext`. If the condition holds, the run also becomes the current run of its workspace. */
export const reachAsCurrent =
  (type: keyof typeof STATUS_AFTER, condition: (run: RunHistory) => boolean): HistoryRule<unknown> =>
  (_, event, lookup) => {
    const run = lookup.run(event.stream);
    const becomesCurrent = run !== null && condition(run);
    return [
      ...reachStatus(STATUS_AFTER[type], event, lookup),
      ...(becomesCurrent ? toCurrentRunChange(lookup, run.workspace, event.stream) : []),
    ];
  };
