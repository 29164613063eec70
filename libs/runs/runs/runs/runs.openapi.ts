import { z } from 'zod';
import {
  always,
  count,
  defineResource,
  describeController,
  describeEmpty,
  describeOptionalBody,
  describeResourceBody,
  describeSettings,
  exampleText,
  type OperationDescription,
  parameter,
  permissionFlags,
  related,
  timestamp,
} from '#api/json-api/description';
import { RUN_SOURCES } from './run-event.js';
import { RUN_OPTIONS } from './run-options.js';
import { RUN_STATUSES, STATUS_GROUPS } from './run-status.js';
import { actionBody, createBody, progressBody } from './runs.body.js';
import { RunsController } from './runs.controller.js';
import { nameTimestamp } from './runs.document.js';
import { DECIDERS } from './runs.filter.js';
import { RUN_INCLUDES } from './runs.include.js';

/** The query parameter of uploads that `parseFence` reads. */
export const fenceParameter = z
  .int()
  .min(1)
  .optional()
  .meta({ description: 'The fence of the lease. Required if the executor has claimed the phase.' });

const statusTimestamps = z
  .strictObject(Object.fromEntries(RUN_STATUSES.map((status) => [nameTimestamp(status), timestamp().optional()])))
  .meta({
    description: 'When the run reached each status. Statuses that it has not reached are absent.',
    examples: [{ 'plan-queueable-at': '2026-01-31T12:30:15.123Z', 'plan-queued-at': '2026-01-31T12:30:15.123Z' }],
  });

/** Addresses are null instead of an empty list. */
const addresses = (description: string) =>
  z
    .array(z.string())
    .nullable()
    .meta({ description, examples: [null] });

/** The relationships show it. */
const { triggeredBy: _, ...settings } = RUN_OPTIONS.shape;

const options = {
  ...describeSettings(settings),
  'invoke-action-addrs': addresses('Addresses of the actions that the run invokes.'),
  'policy-paths': addresses('Folders with policies. The server evaluates none.'),
  'replace-addrs': addresses('Addresses of the resources that the run replaces.'),
  'target-addrs': addresses('Addresses of the resources to which the run is limited.'),
  'terraform-version': exampleText('1.13.0'),
  variables: z
    .array(z.strictObject({ key: exampleText('region'), value: exampleText('"eu-west-1"') }))
    .meta({ description: 'The variables of the run itself; empty if you may not read variables.', examples: [[]] }),
};

const permissions = z
  .strictObject({
    ...permissionFlags('can-apply', 'can-cancel', 'can-comment', 'can-discard', 'can-force-cancel', 'can-force-execute')
      .shape,
    'can-override-policy-check': always(false),
  })
  .meta({ description: 'What the caller may do.' });

export const runSchema = defineResource({
  name: 'Run',
  type: 'runs',
  description: 'A plan of a configuration and its apply. Executors execute it and report their progress.',
  exampleId: 'run-6mKd9TzPq3XvLcB8',
  attributes: {
    ...options,
    actions: z
      .strictObject({
        'is-cancelable': z.boolean(),
        'is-confirmable': z.boolean(),
        'is-discardable': z.boolean(),
        'is-force-cancelable': z.boolean(),
      })
      .meta({ description: 'What the status of the run allows, for callers with the permission.' }),
    'canceled-at': timestamp('When a caller asked to cancel the run.')
      .nullable()
      .meta({ examples: [null] }),
    'created-at': timestamp(),
    'force-cancel-available-at': z
      .string()
      .meta({ format: 'date-time', description: 'Absent if no caller asked to cancel the run.' })
      .optional(),
    'has-changes': z.boolean(),
    message: exampleText('Queued manually via the Terraform Enterprise API'),
    permissions,
    'position-in-queue': count('The number of runs that must end before this run starts.'),
    source: z.enum(RUN_SOURCES),
    status: z.enum(RUN_STATUSES),
    'status-timestamps': statusTimestamps,
    'trigger-reason': always('manual'),
    'triggering-source-name': exampleText('network')
      .nullable()
      .meta({
        description:
          'The workspace whose run has started this one by a run trigger; null if there is none, or if you may not read its runs.',
        examples: [null],
      }),
    'waiting-reason': exampleText('Agent pool apool-5kWz2HcXn8RqTb4M does not include this workspace in its scope')
      .nullable()
      .meta({ description: 'Why no executor can take the run; null if one can.', examples: [null] }),
  },
  relationships: {
    apply: related.always('applies'),
    comments: related.many('comments'),
    'configuration-version': related.always('configuration-versions'),
    'confirmed-by': related.one('users'),
    'cost-estimate': related.none(),
    'created-by': related.always('users'),
    'input-state-version': related.none(),
    plan: related.always('plans'),
    'policy-checks': related.empty('policy-checks'),
    'run-events': related.many('run-events'),
    'task-stages': related.many('task-stages'),
    'triggering-run': related.one('runs'),
    'triggering-source': related.one('workspaces'),
    workspace: related.always('workspaces'),
    'workspace-run-alerts': related.empty('workspace-run-alerts'),
  },
  hasSelfLink: true,
});

export const RUNS = {
  name: 'Runs',
  description: 'Runs of workspaces, their queue, the actions of people, and the reports of executors.',
};

/** Events of an unlock, which also decides on the state versions of the workspace. */
const UNLOCK_EVENTS = ['WorkspaceUnlocked', 'StateVersionPromoted', 'StateVersionDiscarded'];

const group = {
  ...RUNS,
  resource: runSchema,
  include: {
    values: RUN_INCLUDES,
    resources: [
      'Apply',
      'Comment',
      'ConfigurationVersion',
      'IngressAttributes',
      'Plan',
      'TaskStage',
      'User',
      'Workspace',
    ],
    events: ['ConfigurationVersionShown'],
  },
};

const query = {
  'filter[status]': parameter.list('Only runs with one of these statuses.'),
  'filter[status_group]': parameter.choices(
    Object.keys(STATUS_GROUPS),
    'Only runs with a status of one of these groups. With `filter[status]`, a run must match both.',
  ),
  'filter[operation]': parameter.list(
    'Only runs of one of these kinds: `plan_only`, `plan_and_apply`, `save_plan`, `refresh_only`, `destroy`, `empty_apply`.',
  ),
  'filter[source]': parameter.list('Only runs with one of these sources.'),
  'filter[agent_pool_names]': parameter.list('Only runs of workspaces that use one of these agent pools.'),
  'filter[workspace_names]': parameter.list('Only runs of the workspaces with these names.'),
  'filter[timeframe]': parameter.text(
    'Only runs of this period: `year` for the last twelve months, or a year of four digits.',
  ),
  'filter[waits-for]': parameter.choice(
    DECIDERS,
    'Only runs that wait for a decision. `me`: you may confirm them. `others`: you may not, or another system decides.',
  ),
  'filter[created-since]': parameter.text('Only runs that were created at this ISO 8601 timestamp or later.'),
  'filter[created-before]': parameter.text('Only runs that were created before this ISO 8601 timestamp.'),
  'search[user]': parameter.text('Only runs of the user, team or token with this name, ignoring case.'),
  'search[commit]': parameter.text('Only runs of configurations of this commit. No configuration has one yet.'),
  'search[basic]': parameter.text(
    'Only runs with this id, creator or commit, or with this text in the message. Ignored beside the other searches.',
  ),
};

const list = {
  description: 'Newest first. A page that includes long comments has fewer runs than requested.',
  query,
} satisfies OperationDescription;

const action = {
  body: describeOptionalBody(actionBody, { comment: 'Approved by the network team.' }),
  answer: describeEmpty({ description: 'The run has changed. The response has no body.' }),
} satisfies OperationDescription;

export const runsOperations = describeController(RunsController, group, {
  create: {
    description:
      'The run starts at once if the workspace is free. Without a configuration version, it uses the current one of the workspace.',
    body: describeResourceBody(
      createBody,
      { message: 'Upgrade the provider', 'plan-only': true },
      { workspace: { data: { id: 'ws-7hQ2vXbN4kTgYw3D' } } },
    ),
    refusals: {
      unprocessable:
        'An attribute is not valid, the workspace has the execution mode `local`, or no configuration version is uploaded.',
    },
    events: ['RunCreated', 'RunQueued', 'WorkspaceLocked'],
  },
  show: {},
  listOfWorkspace: { ...list, operationId: 'listRuns' },
  listOfOrganization: { ...list, summary: 'List the runs of an organization that you may read' },
  listOfQueue: {
    operationId: 'listRunQueue',
    summary: 'List the waiting and running runs of an organization that you may read',
    description: 'Oldest first. A page that includes long comments has fewer runs than requested.',
  },
  listOfPool: {
    operationId: 'listAgentPoolRuns',
    summary: 'List the runs that agents of a pool must plan, apply or stop',
    description: 'For executors, with the token of the pool. Oldest first.',
  },
  progress: {
    operationId: 'reportRunProgress',
    summary: 'Report the progress of a run',
    description: 'For executors, with the token of an agent pool.',
    body: describeResourceBody(progressBody, { status: 'planned', 'resource-additions': 2 }),
    refusals: {
      conflict: 'The run cannot have this status after its present one, or the fence is not that of the newest claim.',
    },
    events: [
      'RunStageReached',
      'RunPlanStarted',
      'RunPlanned',
      'RunPlannedAndFinished',
      'RunPlanSaved',
      'RunApplyQueued',
      'RunApplyStarted',
      'RunApplied',
      'RunErrored',
      'RunCanceled',
      ...UNLOCK_EVENTS,
    ],
  },
  apply: {
    ...action,
    summary: 'Confirm a run, so that an executor applies it',
    refusals: {
      conflict: 'The run does not wait for a confirmation, or its plan is saved and the workspace is locked.',
    },
    events: ['RunConfirmed', 'RunApplyQueued', 'RunCommented', 'WorkspaceLocked'],
  },
  discard: {
    ...action,
    refusals: { conflict: 'The run neither waits for its turn nor for a confirmation.' },
    events: ['RunDiscarded', 'RunCommented', ...UNLOCK_EVENTS],
  },
  cancel: {
    ...action,
    description: 'If an executor works on the run, the server asks it to stop. Otherwise it cancels the run at once.',
    refusals: { conflict: 'The run has ended, waits for a confirmation, or is being canceled.' },
    events: ['RunCancelRequested', 'RunCanceled', 'RunCommented', ...UNLOCK_EVENTS],
  },
  forceCancel: {
    ...action,
    summary: 'Cancel a run whose executor does not stop',
    refusals: { conflict: 'No executor works on the run, or `force-cancel-available-at` is absent or in the future.' },
    events: ['RunForceCanceled', 'RunCommented', ...UNLOCK_EVENTS],
  },
  forceExecute: {
    ...action,
    summary: 'Start a waiting run before the runs ahead of it',
    description: 'The server discards the runs ahead.',
    refusals: {
      conflict: 'The run is not pending, no other run holds the lock, or a run ahead is being planned or applied.',
    },
    events: ['RunForceExecuted', 'RunQueued', 'RunDiscarded', 'RunCommented', ...UNLOCK_EVENTS, 'WorkspaceLocked'],
  },
});
