import { can, type Actor } from '#api/access';
import { linkTo, toMany, toOne, type Resource } from '#api/json-api';
import { findOverrideObstacle } from '../policy-evaluations/override-obstacle.js';
import type { TaskOutcome } from './run-task-stage.js';
import type { TaskResultRow, TaskStageRow } from './task-stages.queries.js';

const renderTimestamps = (reached: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(reached).map(([status, time]) => [`${status}-at`, time]));

/** Returns what the caller can do with the stage. Nobody overrides run tasks: a mandatory failure ends the run. */
const renderPermissions = ({ organization, authors }: TaskStageRow, actor: Actor) => {
  const canOverride =
    can(actor, 'override-policies', { organization }) && findOverrideObstacle(actor, authors) === null;
  return { 'can-override': canOverride, 'can-override-policy': canOverride, 'can-override-tasks': false };
};

export const renderTaskStage = (row: TaskStageRow, actor: Actor): Resource => ({
  id: row.id,
  type: 'task-stages',
  attributes: {
    actions: { 'is-overridable': row.status === 'awaiting_override' },
    permissions: renderPermissions(row, actor),
    stage: row.stage,
    status: row.status,
    'status-timestamps': renderTimestamps(row.reached),
  },
  relationships: {
    'policy-evaluations': toMany('policy-evaluations', row.evaluations),
    run: toOne('runs', row.run, `/api/v2/runs/${row.run}`),
    'task-results': toMany('task-results', row.results),
  },
  links: { self: `/api/v2/task-stages/${row.id}` },
});

export const renderTaskResult = (row: TaskResultRow): Resource => ({
  id: row.id,
  type: 'task-results',
  attributes: {
    'agent-pool-id': null,
    'is-speculative': row.isSpeculative,
    message: row.message,
    stage: row.stage,
    status: row.status,
    'status-timestamps': renderTimestamps(row.reached),
    'task-id': row.task,
    'task-name': row.taskName,
    'task-url': row.taskUrl,
    url: row.url,
    'workspace-task-enforcement-level': row.enforcementLevel,
    'workspace-task-id': row.workspaceTask,
  },
  relationships: {
    'task-stage': toOne('task-stages', row.taskStage, `/api/v2/task-stages/${row.taskStage}`),
    'task-result-outcomes': {
      ...toMany(
        'task-result-outcomes',
        row.outcomes.map(({ id }) => id),
      ),
      ...linkTo(`/api/v2/task-results/${row.id}/outcomes`),
    },
  },
  links: { self: `/api/v2/task-results/${row.id}` },
});

export const renderTaskOutcome = (outcome: TaskOutcome, result: string): Resource => ({
  id: outcome.id,
  type: 'task-result-outcomes',
  attributes: {
    description: outcome.description,
    'has-body': outcome.hasBody,
    'outcome-id': outcome.outcomeId,
    tags: outcome.tags,
    url: outcome.url,
  },
  relationships: { 'task-result': toOne('task-results', result, `/api/v2/task-results/${result}`) },
  links: {
    self: `/api/v2/task-result-outcomes/${outcome.id}`,
    ...(outcome.hasBody ? { body: `/api/v2/task-result-outcomes/${outcome.id}/body` } : {}),
  },
});
