import { z } from 'zod';
import { describePersonalName, type DataOf, type EventKind, type EventKinds, type Principal } from '#kernel';
import { upcastMember } from '#json-api';
import { RUN_OPTIONS } from './runs/run-options.js';
import { RUN_STATUSES } from './runs/run-status.js';
import { RUN_SOURCES, type PlannedCounts, type RunEvent, type RunStage } from './runs/run-event.js';

const person = z.strictObject({ type: z.string(), id: z.string(), name: z.string() }) satisfies z.ZodType<Principal>;

const options = z.strictObject(RUN_OPTIONS.shape);

const counts = z.strictObject({
  additions: z.int(),
  changes: z.int(),
  destructions: z.int(),
  imports: z.int(),
}) satisfies z.ZodType<PlannedCounts>;

const message = z.string().nullable();
const nothing = z.strictObject({});

type RunEventKind<T extends RunEvent['type']> = EventKind<DataOf<RunEvent, T>>;

const defineRunEvent = <T extends RunEvent['type']>(
  schema: RunEventKind<T>['schema'],
  audit: RunEventKind<T>['audit'],
  personal?: RunEventKind<T>['personal'],
): RunEventKind<T> => ({
  schemaVersion: 1,
  topic: 'runs',
  schema,
  audit,
  ...(personal ? { personal } : {}),
});

const toAuditMapping = (action: string) => ({ resource: 'run', action });

/** The trail records actions of people. The run's own events record the progress that executors report. */
const progress = { unaudited: 'a report of an executor; the events of the run record it' };

/** Event schemas, topics and audit mappings of runs. */
export const runEvents: EventKinds<RunEvent> = {
  RunCreated: {
    schemaVersion: RUN_OPTIONS.version,
    upcast: upcastMember(RUN_OPTIONS, 'options'),
    topic: 'runs',
    schema: z.strictObject({
      workspace: z.string(),
      configurationVersion: z.string(),
      message: z.string(),
      source: z.enum(RUN_SOURCES),
      createdBy: person,
      options,
    }),
    audit: {
      ...toAuditMapping('create'),
      meta: ({ workspace, message: text }) => ({ workspace_id: workspace, message: text }),
    },
    personal: ({ createdBy }) => describePersonalName('createdBy', createdBy),
  },
  RunQueued: defineRunEvent<'RunQueued'>(nothing, { unaudited: 'happens automatically when the workspace is free' }),
  RunStageReached: defineRunEvent<'RunStageReached'>(
    z.strictObject({ stage: z.enum(RUN_STATUSES) as unknown as z.ZodType<RunStage>, message }),
    progress,
  ),
  RunPlanStarted: defineRunEvent<'RunPlanStarted'>(z.strictObject({ message }), progress),
  RunPlanned: defineRunEvent<'RunPlanned'>(
    z.strictObject({ hasChanges: z.boolean(), resources: counts, message }),
    progress,
  ),
  RunPlannedAndFinished: defineRunEvent<'RunPlannedAndFinished'>(nothing, {
    unaudited: 'follows automatically from the plan',
  }),
  RunPlanSaved: defineRunEvent<'RunPlanSaved'>(nothing, { unaudited: 'follows automatically from the plan' }),
  RunConfirmed: defineRunEvent<'RunConfirmed'>(
    z.strictObject({ confirmedBy: person }),
    toAuditMapping('apply'),
    ({ confirmedBy }) => describePersonalName('confirmedBy', confirmedBy),
  ),
  RunApplyQueued: defineRunEvent<'RunApplyQueued'>(nothing, {
    unaudited: 'follows from the confirmation, which has an entry, or from a setting of the run',
  }),
  RunApplyStarted: defineRunEvent<'RunApplyStarted'>(z.strictObject({ message }), progress),
  RunApplied: defineRunEvent<'RunApplied'>(z.strictObject({ resources: counts, message }), progress),
  RunErrored: defineRunEvent<'RunErrored'>(z.strictObject({ message }), progress),
  RunDiscarded: defineRunEvent<'RunDiscarded'>(nothing, toAuditMapping('discard')),
  RunCancelRequested: defineRunEvent<'RunCancelRequested'>(
    z.strictObject({ forceCancelAvailableAt: z.string() }),
    toAuditMapping('cancel'),
  ),
  RunCanceled: defineRunEvent<'RunCanceled'>(z.strictObject({ message }), {
    unaudited: 'follows from the request to cancel, which has an entry',
  }),
  RunForceCanceled: defineRunEvent<'RunForceCanceled'>(nothing, toAuditMapping('force_cancel')),
  RunForceExecuted: defineRunEvent<'RunForceExecuted'>(nothing, toAuditMapping('force_execute')),
  RunCommented: defineRunEvent<'RunCommented'>(
    z.strictObject({ id: z.string(), body: z.string(), author: person }),
    {
      resource: 'workspace_comment',
      action: 'create',
      id: ({ id }) => id,
      meta: (_, { stream }) => ({ resource: stream }),
    },
    ({ author }) => describePersonalName('author', author),
  ),
};
