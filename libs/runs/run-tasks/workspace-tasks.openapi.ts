import { z } from 'zod';
import {
  defineResource,
  describeBody,
  describeController,
  describeResourceBody,
  related,
} from '#api/json-api/description';
import { ENFORCEMENT_LEVELS, TASK_STAGES } from './task-stages.js';
import {
  createWorkspaceTaskBody,
  updateWorkspaceTaskBody,
  WorkspaceTasksController,
} from './workspace-tasks.controller.js';

export const workspaceTaskSchema = defineResource({
  name: 'WorkspaceTask',
  type: 'workspace-tasks',
  noun: 'run task of a workspace',
  description: 'A run task of a workspace, with its stages and what a failure means.',
  exampleId: 'wstask-tBXYu8GVAFBpcmPm',
  attributes: {
    'enforcement-level': z.enum(ENFORCEMENT_LEVELS).meta({ examples: ['mandatory'] }),
    stage: z.enum(TASK_STAGES).meta({ description: 'The first of the stages.', examples: ['post_plan'] }),
    stages: z.array(z.enum(TASK_STAGES)).meta({ examples: [['post_plan']] }),
  },
  relationships: { task: related.one('tasks'), workspace: related.one('workspaces') },
  hasSelfLink: true,
});

const WORKSPACE_TASKS = {
  name: 'Run tasks of workspaces',
  description: 'The run tasks of a workspace.',
  resource: workspaceTaskSchema,
};

export const workspaceTasksOperations = describeController(WorkspaceTasksController, WORKSPACE_TASKS, {
  list: {},
  create: {
    description: 'Without `stages`, the task is requested after the plan.',
    body: describeBody(createWorkspaceTaskBody, {
      data: {
        type: 'workspace-tasks',
        attributes: { 'enforcement-level': 'mandatory', stages: ['post_plan'] },
        relationships: { task: { data: { id: 'task-7oD7doVTQdAFnMLV' } } },
      },
    }),
    refusals: { unprocessable: 'The task does not exist, or the workspace has it already.' },
  },
  show: {},
  update: { body: describeResourceBody(updateWorkspaceTaskBody, { 'enforcement-level': 'advisory' }) },
  destroy: {},
});
