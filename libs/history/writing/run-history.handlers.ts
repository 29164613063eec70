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

/** As the inline view decides which run is the current one (libs/runs/runs.projection.ts). */
const toCurrentRunChange = (known: HistoryLookup, workspace: string, run: string): readonly HistoryChange[] =>
  known.of(workspace)?.['currentRun'] === run ? [] : updateSubject(workspace, { currentRun: run });

const isBusy = (known: HistoryLookup, workspace: string): boolean => {
  const run = (known.of(workspace)?.['currentRun'] ?? null) as string | null;
  return run !== null && !FINAL_STATUSES.includes(known.run(run)?.status as RunStatus);
};

const toStatusChanges = (
  status: RunStatus,
  { stream, time }: OrganizationRecordedEvent,
  known: HistoryLookup,
): readonly HistoryChange[] => {
  const run = known.run(stream);
  if (!run) return [];
  const finishedAt = COUNTED_STATUSES.includes(status) ? time : run.finishedAt;
  return [{ run: { ...run, status, reached: { ...run.reached, [status]: time }, finishedAt } }];
};

const onStatus =
  (type: keyof typeof STATUS_AFTER) => (_: unknown, event: OrganizationRecordedEvent, known: HistoryLookup) =>
    toStatusChanges(STATUS_AFTER[type], event, known);

export const runs: HistoryHandlers<RunEvent> = {
  RunCreated: ({ workspace, options }, { stream, organization, time }, known) => {
    const queues = waitsForWorkspace(options);
    const status = STATUS_AFTER.RunCreated;
    const run = { run: stream, workspace, organization, queues, createdAt: time, finishedAt: null };
    return [
      { run: { ...run, status, reached: { [status]: time } } },
      ...(queues && !isBusy(known, workspace) ? toCurrentRunChange(known, workspace, stream) : []),
    ];
  },
  RunQueued: (_, event, known) => {
    const run = known.run(event.stream);
    const takes = run?.queues ? toCurrentRunChange(known, run.workspace, event.stream) : [];
    return [...toStatusChanges(STATUS_AFTER.RunQueued, event, known), ...takes];
  },
  RunStageReached: ({ stage }, event, known) => toStatusChanges(stage, event, known),
  RunPlanStarted: onStatus('RunPlanStarted'),
  RunPlanned: onStatus('RunPlanned'),
  RunPlannedAndFinished: onStatus('RunPlannedAndFinished'),
  RunPlanSaved: onStatus('RunPlanSaved'),
  RunConfirmed: (_, event, known) => {
    const run = known.run(event.stream);
    const takes = run ? toCurrentRunChange(known, run.workspace, event.stream) : [];
    return [...toStatusChanges(STATUS_AFTER.RunConfirmed, event, known), ...takes];
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

/** Whether a configuration becomes the current one: the one that came last, and of two of one moment that with the greater id. */
const isNewer = (before: SubjectData | null, since: string, id: string): boolean => {
  const [was, by] = [before?.['currentConfigurationSince'], before?.['currentConfigurationVersion']];
  return was === null || since > (was as string) || (since === was && id > (by as string));
};

export const configurations: HistoryHandlers<ConfigurationVersionEvent> = {
  ConfigurationVersionCreated: ({ workspace, speculative, provisional }, { stream, time }, known) => {
    const becomesCurrent = !speculative && !provisional && isNewer(known.of(workspace), time, stream);
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
