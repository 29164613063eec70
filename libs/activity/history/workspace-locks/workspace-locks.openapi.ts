import { describeController, describePage, pageParameters } from '#api/json-api/description';
import { WORKSPACE_HISTORY } from '../workspace-changes/workspace-changes.openapi.js';
import { WorkspaceLocksController } from './workspace-locks.controller.js';

export const workspaceLocksOperations = describeController(WorkspaceLocksController, WORKSPACE_HISTORY, {
  listLocks: {
    operationId: 'listCurrentWorkspaceLocks',
    summary: 'List the current locks of the workspaces of an organization',
    description: 'The oldest lock is first. The list has the locks of workspaces that you may read.',
    query: pageParameters(),
    answer: describePage('WorkspaceLock'),
  },
  listOf: {
    operationId: 'listWorkspaceLocks',
    summary: 'List the current and the earlier locks of a workspace',
    description: 'The newest lock is first.',
    query: pageParameters(),
    answer: describePage('WorkspaceLock'),
  },
});
