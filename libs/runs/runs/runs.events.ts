import { z } from 'zod';
import {
  defineEvents,
  describePersonalName,
  type EventKinds,
  type Principal,
  type RecordedEvent,
} from '#platform/kernel';
import { inWorkspace } from '#api/access/rules';
import { upcastMember } from '#api/json-api';
import { RUN_OPTIONS } from './runs/run-options.js';
import { RUN_STATUSES } from './runs/run-status.js';
import {
  ASSESSED_COUNTS,
  ASSESSMENTS,
  RUN_SOURCES,
  type PlannedCounts,
  type RunEvent,
  type RunExecution,
  type RunStage,
} from './runs/run-event.js';
import { beginRun, reachAsCurrent, reachNext, reachStatus, requeuePlan } from './runs/run-history.js';
import type { PolicyEvaluationEvent } from './task-results/policy-evaluations.events.js';
import type { TaskStageEvent } from './task-results/task-stages.events.js';
import { createStatusNotification, createStageNotification } from './runs/run-notifications.js';

const person = z.strictObject({ type: z.string(), id: z.string(), name: z.string() }) satisfies z.ZodType<Principal>;

const options = z.strictObject(RUN_OPTIONS.shape);

const counts = z.strictObject({
  additions: z.int(),
  changes: z.int(),
  destructions: z.int(),
  imports: z.int(),
}) satisfies z.ZodType<PlannedCounts>;

const execution = z.strictObject({
  agent: z.string(),
  agentName: z.string().nullable(),
  pool: z.string(),
  fence: z.int(),
}) satisfies z.ZodType<RunExecution>;

const message = z.string().nullable();
const phase = z.enum(['plan', 'apply']);
const nothing = z.strictObject({});

/** The trail records actions of people. The run's own events record the progress that executors report. */
const progress = { unaudited: 'a report of an executor; the events of the run record it' };

/** Health assessments start, end and are deleted by themselves. What executors read for them has entries. */
const isInternal = (_: unknown, { context: { accessor } }: Pick<RecordedEvent, 'context'>): boolean =>
  accessor.type === 'system' && accessor.name === ASSESSMENTS;

/** 2: execution. */
const start = {
  schemaVersion: 2,
  upcast: { 1: [{ add: { execution: null } }] },
  schema: z.strictObject({ message, execution: execution.nullable() }),
  ids: { refersTo: { 'execution.agent': ['agent'], 'execution.pool': ['apool'] } },
};

/** The events of runs. */
export const runEvents = defineEvents(
  { topic: 'runs', stream: 'run', audited: 'run', live: inWorkspace('runs', 'read-runs') },
  {
    RunCreated: {
      schemaVersion: RUN_OPTIONS.version,
      upcast: upcastMember(RUN_OPTIONS, 'options'),
      schema: z.strictObject({
        workspace: z.string(),
        configurationVersion: z.string(),
        message: z.string(),
        source: z.enum(RUN_SOURCES),
        createdBy: person,
        options,
      }),
      audit: {
        action: 'create',
        isInternal,
        meta: ({ workspace, message: text }) => ({ workspace_id: workspace, message: text }),
      },
      live: inWorkspace('runs', 'read-runs', { field: 'workspace' })('created'),
      history: beginRun,
      notifies: createStatusNotification('RunCreated', 'run:created'),
      ids: {
        refersTo: {
          workspace: ['ws'],
          configurationVersion: ['cv'],
          'options.triggeredBy.workspace': ['ws'],
          'options.triggeredBy.run': ['run'],
        },
      },
      personal: ({ createdBy }) => describePersonalName('createdBy', createdBy),
    },
    RunQueued: {
      schema: nothing,
      audit: { unaudited: 'happens automatically when the workspace is free' },
      live: 'changed',
      history: reachAsCurrent('RunQueued', ({ queues }) => queues),
    },
    RunStageReached: {
      schema: z.strictObject({ stage: z.enum(RUN_STATUSES) as unknown as z.ZodType<RunStage>, message }),
      audit: progress,
      live: 'changed',
      history: ({ stage }, event, lookup) => reachStatus(stage, event, lookup),
      notifies: createStageNotification,
    },
    RunPlanStarted: {
      ...start,
      audit: progress,
      live: 'changed',
      history: reachNext('RunPlanStarted'),
      notifies: createStatusNotification('RunPlanStarted', 'run:planning'),
    },
    RunExecutorLost: {
      schema: z.strictObject({ phase, agent: z.string(), fence: z.int() }),
      audit: { action: 'lose_executor', meta: ({ phase, agent }) => ({ phase, agent_id: agent }) },
      live: { unsent: 'another event says what follows for the run' },
      ids: { refersTo: { agent: ['agent'] } },
    },
    RunPlanRequeued: {
      schema: z.strictObject({ fence: z.int(), message: z.string() }),
      audit: { unaudited: 'follows from the loss of the executor, which has an entry' },
      live: 'changed',
      history: requeuePlan,
    },
    RunJobRead: {
      // 2: hasChosenPolicies.
      schemaVersion: 2,
      upcast: { 1: [{ add: { hasChosenPolicies: false } }] },
      schema: z.strictObject({ phase, fence: z.int(), nonceHash: z.string(), hasChosenPolicies: z.boolean() }),
      audit: { action: 'read_job', meta: ({ phase, fence }) => ({ phase, fence }) },
      live: { unsent: 'no document shows it' },
    },
    RunIdentityTokenIssued: {
      schema: z.strictObject({ phase, audience: z.string() }),
      audit: { action: 'issue_identity_token', meta: ({ phase, audience }) => ({ phase, audience }) },
      live: { unsent: 'no document shows it' },
    },
    RunPlanned: {
      schema: z.strictObject({ hasChanges: z.boolean(), resources: counts, message }),
      audit: progress,
      live: 'changed',
      history: reachNext('RunPlanned'),
      notifies: createStatusNotification('RunPlanned', 'run:needs_attention', { ifWaiting: true }),
    },
    RunPlannedAndFinished: {
      schema: nothing,
      audit: { unaudited: 'follows automatically from the plan' },
      live: 'changed',
      history: reachNext('RunPlannedAndFinished'),
      notifies: createStatusNotification('RunPlannedAndFinished', 'run:completed'),
    },
    RunPlanSaved: {
      schema: nothing,
      audit: { unaudited: 'follows automatically from the plan' },
      live: 'changed',
      history: reachNext('RunPlanSaved'),
      notifies: createStatusNotification('RunPlanSaved', 'run:needs_attention'),
    },
    RunConfirmed: {
      schema: z.strictObject({ confirmedBy: person }),
      audit: { action: 'apply' },
      live: 'changed',
      history: reachAsCurrent('RunConfirmed', () => true),
      personal: ({ confirmedBy }) => describePersonalName('confirmedBy', confirmedBy),
    },
    RunApplyQueued: {
      schema: nothing,
      audit: { unaudited: 'follows from the confirmation, which has an entry, or from a setting of the run' },
      live: 'changed',
      history: reachNext('RunApplyQueued'),
    },
    RunApplyStarted: {
      ...start,
      audit: progress,
      live: 'changed',
      history: reachNext('RunApplyStarted'),
      notifies: createStatusNotification('RunApplyStarted', 'run:applying'),
    },
    RunApplied: {
      schema: z.strictObject({ resources: counts, message }),
      audit: progress,
      live: 'changed',
      history: reachNext('RunApplied'),
      notifies: createStatusNotification('RunApplied', 'run:completed'),
    },
    RunErrored: {
      schema: z.strictObject({ message }),
      audit: progress,
      live: 'changed',
      history: reachNext('RunErrored'),
      notifies: createStatusNotification('RunErrored', 'run:errored'),
    },
    RunErroredStateStored: {
      schema: z.strictObject({ fence: z.int(), size: z.int() }),
      audit: { action: 'store_errored_state', meta: ({ fence, size }) => ({ fence, size }) },
      live: 'changed',
    },
    RunConfigurationGenerated: {
      schema: nothing,
      audit: progress,
      live: { unsent: 'the end of the plan follows at once' },
    },
    RunAssessed: {
      schema: ASSESSED_COUNTS,
      audit: progress,
      live: { unsent: 'the end of the plan follows at once' },
    },
    RunDataDeleted: {
      schema: nothing,
      audit: { action: 'permanently_delete_backing_data', isInternal },
      live: 'changed',
    },
    RunDiscarded: {
      schema: nothing,
      audit: { action: 'discard' },
      live: 'changed',
      history: reachNext('RunDiscarded'),
      notifies: createStatusNotification('RunDiscarded', 'run:errored'),
    },
    RunCancelRequested: {
      schema: z.strictObject({ forceCancelAvailableAt: z.string() }),
      audit: { action: 'cancel', isInternal },
      live: 'changed',
    },
    RunCanceled: {
      schema: z.strictObject({ message }),
      audit: { unaudited: 'follows from the request to cancel, which has an entry' },
      live: 'changed',
      history: reachNext('RunCanceled'),
      notifies: createStatusNotification('RunCanceled', 'run:errored'),
    },
    RunForceCanceled: {
      schema: nothing,
      audit: { action: 'force_cancel' },
      live: 'changed',
      history: reachNext('RunForceCanceled'),
      notifies: createStatusNotification('RunForceCanceled', 'run:errored'),
    },
    RunForceExecuted: { schema: nothing, audit: { action: 'force_execute' }, live: 'changed' },
    RunCommented: {
      schema: z.strictObject({ id: z.string(), body: z.string(), author: person }),
      audit: {
        resource: 'workspace_comment',
        action: 'create',
        id: ({ id }) => id,
        meta: (_, { stream }) => ({ resource: stream }),
      },
      live: 'changed',
      ids: { creates: { id: 'wsc' } },
      personal: ({ author }) => describePersonalName('author', author),
    },
    RunPlanQueued: {
      schema: nothing,
      audit: { unaudited: 'follows from the results of the run tasks before the plan' },
      live: 'changed',
      history: reachNext('RunPlanQueued'),
    },
  },
) satisfies EventKinds<Exclude<RunEvent, TaskStageEvent | PolicyEvaluationEvent>>;
