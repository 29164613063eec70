import { z } from 'zod';
import { nameAt, type DataOf, type EventKind, type EventKinds, type Somebody } from '#kernel';
import type { RunOptions } from './run-options.js';
import { RUN_STATUSES } from './run-status.js';
import { RUN_SOURCES, type Counts, type RunEvent, type Stage } from './run-event.js';

const person = z.strictObject({ type: z.string(), id: z.string(), name: z.string() }) satisfies z.ZodType<Somebody>;

const options = z.strictObject({
  isDestroy: z.boolean(),
  refresh: z.boolean(),
  refreshOnly: z.boolean(),
  replaceAddrs: z.array(z.string()),
  targetAddrs: z.array(z.string()),
  invokeActionAddrs: z.array(z.string()),
  policyPaths: z.array(z.string()),
  planOnly: z.boolean(),
  savePlan: z.boolean(),
  autoApply: z.boolean(),
  allowEmptyApply: z.boolean(),
  allowConfigGeneration: z.boolean(),
  debuggingMode: z.boolean(),
  terraformVersion: z.string(),
  variables: z.array(z.string()),
}) satisfies z.ZodType<RunOptions>;

const counts = z.strictObject({
  additions: z.int(),
  changes: z.int(),
  destructions: z.int(),
  imports: z.int(),
}) satisfies z.ZodType<Counts>;

const message = z.string().nullable();
const nothing = z.strictObject({});

type Kind<T extends RunEvent['type']> = EventKind<DataOf<RunEvent, T>>;

const kind = <T extends RunEvent['type']>(
  schema: Kind<T>['schema'],
  audit: Kind<T>['audit'],
  personal?: Kind<T>['personal'],
): Kind<T> => ({
  schemaVersion: 1,
  topic: 'runs',
  schema,
  audit,
  ...(personal ? { personal } : {}),
});

const told = (action: string) => ({ resource: 'run', action });

/** The trail tells what people did; what became of it is in the run's own events. */
const progress = { unaudited: 'a report of an executor; the events of the run record it' };

/** Version 1 had neither actions to invoke nor paths of policies. */
const withActionsAndPolicies = (data: unknown): unknown => {
  const { options: before, ...rest } = data as { readonly options: object };
  return { ...rest, options: { ...before, invokeActionAddrs: [], policyPaths: [] } };
};

/** Schemas, topics and audit rows of everything that happens to a run. */
export const runEvents: EventKinds<RunEvent> = {
  RunCreated: {
    schemaVersion: 2,
    upcast: { 1: withActionsAndPolicies },
    topic: 'runs',
    schema: z.strictObject({
      workspace: z.string(),
      configurationVersion: z.string(),
      message: z.string(),
      source: z.enum(RUN_SOURCES),
      createdBy: person,
      options,
    }),
    audit: { ...told('create'), meta: ({ workspace, message: text }) => ({ workspace_id: workspace, message: text }) },
    personal: ({ createdBy }) => nameAt('createdBy', createdBy),
  },
  RunQueued: kind<'RunQueued'>(nothing, { unaudited: 'happens automatically when the workspace is free' }),
  RunStageReached: kind<'RunStageReached'>(
    z.strictObject({ stage: z.enum(RUN_STATUSES) as unknown as z.ZodType<Stage>, message }),
    progress,
  ),
  RunPlanStarted: kind<'RunPlanStarted'>(z.strictObject({ message }), progress),
  RunPlanned: kind<'RunPlanned'>(z.strictObject({ hasChanges: z.boolean(), resources: counts, message }), progress),
  RunPlannedAndFinished: kind<'RunPlannedAndFinished'>(nothing, { unaudited: 'follows automatically from the plan' }),
  RunPlanSaved: kind<'RunPlanSaved'>(nothing, { unaudited: 'follows automatically from the plan' }),
  RunConfirmed: kind<'RunConfirmed'>(z.strictObject({ confirmedBy: person }), told('apply'), ({ confirmedBy }) =>
    nameAt('confirmedBy', confirmedBy),
  ),
  RunApplyQueued: kind<'RunApplyQueued'>(nothing, {
    unaudited: 'follows from the confirmation, which has an entry, or from a setting of the run',
  }),
  RunApplyStarted: kind<'RunApplyStarted'>(z.strictObject({ message }), progress),
  RunApplied: kind<'RunApplied'>(z.strictObject({ resources: counts, message }), progress),
  RunErrored: kind<'RunErrored'>(z.strictObject({ message }), progress),
  RunDiscarded: kind<'RunDiscarded'>(nothing, told('discard')),
  RunCancelRequested: kind<'RunCancelRequested'>(
    z.strictObject({ forceCancelAvailableAt: z.string() }),
    told('cancel'),
  ),
  RunCanceled: kind<'RunCanceled'>(z.strictObject({ message }), {
    unaudited: 'follows from the request to cancel, which has an entry',
  }),
  RunForceCanceled: kind<'RunForceCanceled'>(nothing, told('force_cancel')),
  RunForceExecuted: kind<'RunForceExecuted'>(nothing, told('force_execute')),
  RunCommented: kind<'RunCommented'>(
    z.strictObject({ id: z.string(), body: z.string(), author: person }),
    {
      resource: 'workspace_comment',
      action: 'create',
      id: ({ id }) => id,
      meta: (_, { stream }) => ({ resource: stream }),
    },
    ({ author }) => nameAt('author', author),
  ),
};
