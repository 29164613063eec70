import {
  COUNTED,
  FINAL_STATUSES,
  STATUS_AFTER,
  waitsItsTurn,
  type ConfigurationVersionEvent,
  type RunEvent,
  type RunStatus,
} from '#runs';
import type { Change, Known } from './chronicle.js';
import { became, born, type Sentences, type Told } from './sentences.js';
import type { Data } from './fields.js';

/** As the inline view decides which run is the current one (libs/runs/runs.projection.ts). */
const current = (known: Known, workspace: string, run: string): readonly Change[] =>
  known.of(workspace)?.['currentRun'] === run ? [] : became(workspace, { currentRun: run });

const isBusy = (known: Known, workspace: string): boolean => {
  const run = (known.of(workspace)?.['currentRun'] ?? null) as string | null;
  return run !== null && !FINAL_STATUSES.includes(known.run(run)?.status as RunStatus);
};

const reaching = (status: RunStatus, { stream, time }: Told, known: Known): readonly Change[] => {
  const run = known.run(stream);
  if (!run) return [];
  const finishedAt = COUNTED.includes(status) ? time : run.finishedAt;
  return [{ run: { ...run, status, reached: { ...run.reached, [status]: time }, finishedAt } }];
};

const reaches = (type: keyof typeof STATUS_AFTER) => (_: unknown, event: Told, known: Known) =>
  reaching(STATUS_AFTER[type], event, known);

export const runs: Sentences<RunEvent> = {
  RunCreated: ({ workspace, options }, { stream, organization, time }, known) => {
    const queues = waitsItsTurn(options);
    const status = STATUS_AFTER.RunCreated;
    const run = { run: stream, workspace, organization, queues, createdAt: time, finishedAt: null };
    return [
      { run: { ...run, status, reached: { [status]: time } } },
      ...(queues && !isBusy(known, workspace) ? current(known, workspace, stream) : []),
    ];
  },
  RunQueued: (_, event, known) => {
    const run = known.run(event.stream);
    const takes = run?.queues ? current(known, run.workspace, event.stream) : [];
    return [...reaching(STATUS_AFTER.RunQueued, event, known), ...takes];
  },
  RunStageReached: ({ stage }, event, known) => reaching(stage, event, known),
  RunPlanStarted: reaches('RunPlanStarted'),
  RunPlanned: reaches('RunPlanned'),
  RunPlannedAndFinished: reaches('RunPlannedAndFinished'),
  RunPlanSaved: reaches('RunPlanSaved'),
  RunConfirmed: (_, event, known) => {
    const run = known.run(event.stream);
    const takes = run ? current(known, run.workspace, event.stream) : [];
    return [...reaching(STATUS_AFTER.RunConfirmed, event, known), ...takes];
  },
  RunApplyQueued: reaches('RunApplyQueued'),
  RunApplyStarted: reaches('RunApplyStarted'),
  RunApplied: reaches('RunApplied'),
  RunErrored: reaches('RunErrored'),
  RunDiscarded: reaches('RunDiscarded'),
  RunCancelRequested: null,
  RunCanceled: reaches('RunCanceled'),
  RunForceCanceled: reaches('RunForceCanceled'),
  RunForceExecuted: null,
  RunCommented: null,
};

/** Whether a configuration becomes the current one: the one that came last, and of two of one moment that with the greater id. */
const isNewer = (before: Data | null, since: string, id: string): boolean => {
  const [was, by] = [before?.['currentConfigurationSince'], before?.['currentConfigurationVersion']];
  return was === null || since > (was as string) || (since === was && id > (by as string));
};

export const configurations: Sentences<ConfigurationVersionEvent> = {
  ConfigurationVersionCreated: ({ workspace, speculative, provisional }, { stream, time }, known) => {
    const becomesCurrent = !speculative && !provisional && isNewer(known.of(workspace), time, stream);
    return [
      ...born(stream, { workspace }),
      ...(becomesCurrent
        ? became(workspace, { currentConfigurationVersion: stream, currentConfigurationSince: time })
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
