import {
  COUNTED_STATUSES,
  FINAL_STATUSES,
  STATUS_AFTER,
  waitsForWorkspace,
  type ConfigurationVersionEvent,
  type RunEvent,
  type RunStatus,
} from '#runs';
import type { HistoryChange, HistoryLookup } from './history-writer.js';
import {
  updateSubject,
  createSubject,
  type HistoryHandlers,
  type OrganizationRecordedEvent,
} from './history-handlers.js';
import type { SubjectData } from './history-fields.js';

/** Uses the rule by which the inline view chooses the current run (libs/runs/runs.projection.ts). */
const toCurrentRunChange = (lookup: HistoryLookup, workspace: string, run: string): readonly HistoryChange[] =>
  lookup.of(workspace)?.['currentRun'] === run ? [] : updateSubject(workspace, { currentRun: run });

const isBusy = (lookup: HistoryLookup, workspace: string): boolean => {
  const run = (lookup.of(workspace)?.['currentRun'] ?? null) as string | null;
  return run !== null && !FINAL_STATUSES.includes(lookup.run(run)?.status as RunStatus);
};

const toStatusChanges = (
  status: RunStatus,
  { stream, time }: OrganizationRecordedEvent,
  lookup: HistoryLookup,
): readonly HistoryChange[] => {
  const run = lookup.run(stream);
  if (!run) return [];
  const finishedAt = COUNTED_STATUSES.includes(status) ? time : run.finishedAt;
  return [{ run: { ...run, status, reached: { ...run.reached, [status]: time }, finishedAt } }];
};

const onStatus =
  (type: keyof typeof STATUS_AFTER) => (_: unknown, event: OrganizationRecordedEvent, lookup: HistoryLookup) =>
    toStatusChanges(STATUS_AFTER[type], event, lookup);

export const runs: HistoryHandlers<RunEvent> = {
  RunCreated: ({ workspace, options }, { stream, organization, time }, lookup) => {
    const queues = waitsForWorkspace(options);
    const status = STATUS_AFTER.RunCreated;
    const run = { run: stream, workspace, organization, queues, createdAt: time, finishedAt: null };
    return [
      { run: { ...run, status, reached: { [status]: time } } },
      ...(queues && !isBusy(lookup, workspace) ? toCurrentRunChange(lookup, workspace, stream) : []),
    ];
  },
  RunQueued: (_, event, lookup) => {
    const run = lookup.run(event.stream);
    const currentRunChanges = run?.queues ? toCurrentRunChange(lookup, run.workspace, event.stream) : [];
    return [...toStatusChanges(STATUS_AFTER.RunQueued, event, lookup), ...currentRunChanges];
  },
  RunStageReached: ({ stage }, event, lookup) => toStatusChanges(stage, event, lookup),
  RunPlanStarted: onStatus('RunPlanStarted'),
  RunPlanned: onStatus('RunPlanned'),
  RunPlannedAndFinished: onStatus('RunPlannedAndFinished'),
  RunPlanSaved: onStatus('RunPlanSaved'),
  RunConfirmed: (_, event, lookup) => {
    const run = lookup.run(event.stream);
    const currentRunChanges = run ? toCurrentRunChange(lookup, run.workspace, event.stream) : [];
    return [...toStatusChanges(STATUS_AFTER.RunConfirmed, event, lookup), ...currentRunChanges];
  },
  RunApplyQueued: onStatus('RunApplyQueued'),
  RunApplyStarted: onStatus('RunApplyStarted'),
  RunApplied: onStatus('RunApplied'),
  RunErrored: onStatus('RunErrored'),
  RunDiscarded: onStatus('RunDiscarded'),
  RunCancelRequested: null,
  RunCanceled: onStatus('RunCanceled'),
  RunForceCanceled: onStatus('RunForceCanceled'),
  RunForceExecuted: null,
  RunCommented: null,
};

/**
 * Returns whether a configuration version becomes the current one: it is newer, or has the same time and the greater
 * id.
 */
const isNewer = (before: SubjectData | null, since: string, id: string): boolean => {
  const [was, by] = [before?.['currentConfigurationSince'], before?.['currentConfigurationVersion']];
  return was === null || since > (was as string) || (since === was && id > (by as string));
};

export const configurations: HistoryHandlers<ConfigurationVersionEvent> = {
  ConfigurationVersionCreated: ({ workspace, speculative, provisional }, { stream, time }, lookup) => {
    const becomesCurrent = !speculative && !provisional && isNewer(lookup.of(workspace), time, stream);
    return [
      ...createSubject(stream, { workspace }),
      ...(becomesCurrent
        ? updateSubject(workspace, { currentConfigurationVersion: stream, currentConfigurationSince: time })
        : []),
    ];
  },
  ConfigurationVersionUploaded: null,
  ConfigurationVersionReplaced: null,
  ConfigurationVersionErrored: null,
  ConfigurationVersionArchived: null,
  ConfigurationVersionSoftDeleted: null,
  ConfigurationVersionRestored: null,
  ConfigurationVersionPermanentlyDeleted: null,
};
