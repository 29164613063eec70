import {
  choicesParameter,
  describeBody,
  describeController,
  describeDocument,
  describeEmpty,
  describeOptionalBody,
  describePage,
  includeParameter,
  listParameter,
  pageParameters,
  textParameter,
  type OperationDescription,
} from '#api/json-api/description';
import { actionBody, createBody, progressBody } from './runs.body.js';
import { RunsController } from './runs.controller.js';
import { RUN_INCLUDES } from './runs.include.js';
import { STATUS_GROUPS } from './run-status.js';

export const RUNS = {
  name: 'Runs',
  description: 'Runs of workspaces, their queue, the actions of people, and the reports of executors.',
};

/** Events of an unlock, which also decides on the state versions of the workspace. */
const UNLOCK_EVENTS = ['WorkspaceUnlocked', 'StateVersionPromoted', 'StateVersionDiscarded'];

/** Events of reads that include configuration versions. */
const INCLUDE_EVENTS = ['ConfigurationVersionShown'];

/** Names of the resources that `include` can add. */
const included = ['Apply', 'Comment', 'ConfigurationVersion', 'Plan', 'User', 'Workspace'];

const pageQuery = { ...pageParameters(), ...includeParameter(RUN_INCLUDES) };

const listQuery = {
  ...pageQuery,
  'filter[status]': listParameter('Only runs with one of these statuses.'),
  'filter[status_group]': choicesParameter(
    Object.keys(STATUS_GROUPS),
    'Only runs with a status of one of these groups. With `filter[status]`, a run must match both.',
  ),
  'filter[operation]': listParameter(
    'Only runs of one of these kinds: `plan_only`, `plan_and_apply`, `save_plan`, `refresh_only`, `destroy`, `empty_apply`.',
  ),
  'filter[source]': listParameter('Only runs with one of these sources.'),
  'filter[agent_pool_names]': listParameter('Only runs of workspaces that use one of these agent pools.'),
  'filter[workspace_names]': listParameter('Only runs of the workspaces with these names.'),
  'filter[timeframe]': textParameter(
    'Only runs of this period: `year` for the last twelve months, or a year of four digits.',
  ),
  'search[user]': textParameter('Only runs of the user, team or token with this name, ignoring case.'),
  'search[commit]': textParameter('Only runs of configurations of this commit. No configuration has one yet.'),
  'search[basic]': textParameter(
    'Only runs with this id, creator or commit, or with this text in the message. Ignored beside the other searches.',
  ),
};

const list = {
  description: 'Newest first. A page that includes long comments has fewer runs than requested.',
  query: listQuery,
  answer: describePage('Run', { included }),
  events: INCLUDE_EVENTS,
} satisfies Partial<OperationDescription>;

const action = {
  body: describeOptionalBody(actionBody, { comment: 'Approved by the network team.' }),
  answer: describeEmpty({ description: 'The run has changed. The response has no body.' }),
} satisfies Partial<OperationDescription>;

export const runsOperations = describeController(RunsController, RUNS, {
  create: {
    operationId: 'createRun',
    summary: 'Create a run',
    description:
      'The run starts at once if the workspace is free. Without a configuration version, it uses the current one of the workspace.',
    body: describeBody(createBody, {
      data: {
        type: 'runs',
        attributes: { message: 'Upgrade the provider', 'plan-only': true },
        relationships: { workspace: { data: { id: 'ws-7hQ2vXbN4kTgYw3D' } } },
      },
    }),
    answer: describeDocument('Run'),
    refusals: {
      unprocessable:
        'An attribute is not valid, the workspace has the execution mode `local`, or no configuration version is uploaded.',
    },
    events: ['RunCreated', 'RunQueued', 'WorkspaceLocked'],
  },
  show: {
    operationId: 'getRun',
    summary: 'Show a run',
    query: includeParameter(RUN_INCLUDES),
    answer: describeDocument('Run', { included }),
    events: INCLUDE_EVENTS,
  },
  listOfWorkspace: { ...list, operationId: 'listRuns', summary: 'List the runs of a workspace' },
  listOfOrganization: {
    ...list,
    operationId: 'listOrganizationRuns',
    summary: 'List the runs of an organization that you may read',
  },
  listOfQueue: {
    operationId: 'listRunQueue',
    summary: 'List the waiting and running runs of an organization that you may read',
    description: 'Oldest first. A page that includes long comments has fewer runs than requested.',
    query: pageQuery,
    answer: describePage('Run', { included }),
    events: INCLUDE_EVENTS,
  },
  listOfPool: {
    operationId: 'listAgentPoolRuns',
    summary: 'List the runs that agents of a pool must plan, apply or stop',
    description: 'For executors, with the token of the pool. Oldest first.',
    query: pageQuery,
    answer: describePage('Run', { included }),
    events: INCLUDE_EVENTS,
  },
  progress: {
    operationId: 'reportRunProgress',
    summary: 'Report the progress of a run',
    description: 'For executors, with the token of an agent pool.',
    body: describeBody(progressBody, {
      data: { type: 'run-progress', attributes: { status: 'planned', 'resource-additions': 2 } },
    }),
    answer: describeDocument('Run'),
    refusals: { conflict: 'The run cannot have this status after its present one.' },
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
    operationId: 'applyRun',
    summary: 'Confirm a run, so that an executor applies it',
    refusals: {
      conflict: 'The run does not wait for a confirmation, or its plan is saved and the workspace is locked.',
    },
    events: ['RunConfirmed', 'RunApplyQueued', 'RunCommented', 'WorkspaceLocked'],
  },
  discard: {
    ...action,
    operationId: 'discardRun',
    summary: 'Discard a run',
    refusals: { conflict: 'The run neither waits for its turn nor for a confirmation.' },
    events: ['RunDiscarded', 'RunCommented', ...UNLOCK_EVENTS],
  },
  cancel: {
    ...action,
    operationId: 'cancelRun',
    summary: 'Cancel a run',
    description: 'If an executor works on the run, the server asks it to stop. Otherwise it cancels the run at once.',
    refusals: { conflict: 'The run has ended, waits for a confirmation, or is being canceled.' },
    events: ['RunCancelRequested', 'RunCanceled', 'RunCommented', ...UNLOCK_EVENTS],
  },
  forceCancel: {
    ...action,
    operationId: 'forceCancelRun',
    summary: 'Cancel a run whose executor does not stop',
    refusals: { conflict: 'No executor works on the run, or `force-cancel-available-at` is absent or in the future.' },
    events: ['RunForceCanceled', 'RunCommented', ...UNLOCK_EVENTS],
  },
  forceExecute: {
    ...action,
    operationId: 'forceExecuteRun',
    summary: 'Start a waiting run before the runs ahead of it',
    description: 'The server discards the runs ahead.',
    refusals: {
      conflict: 'The run is not pending, no other run holds the lock, or a run ahead is being planned or applied.',
    },
    events: ['RunForceExecuted', 'RunQueued', 'RunDiscarded', 'RunCommented', ...UNLOCK_EVENTS, 'WorkspaceLocked'],
  },
});
