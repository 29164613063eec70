import { toMany, toOne, type Resource } from '#api/json-api';
import type { RunTaskRow } from './run-tasks.view.js';
import type { WorkspaceTaskRow } from './workspace-tasks.view.js';

/** Renders a run task without its key, which is in no response. */
export const renderRunTask = (row: RunTaskRow): Resource => ({
  id: row.id,
  type: 'tasks',
  attributes: {
    category: 'task',
    description: row.description,
    enabled: row.enabled,
    'global-configuration': {
      enabled: row.globalEnabled,
      stages: row.globalStages,
      'enforcement-level': row.globalEnforcementLevel,
    },
    'hmac-key': null,
    name: row.name,
    url: row.url,
  },
  relationships: {
    'agent-pool': toOne('agent-pools', null),
    organization: toOne('organizations', row.organizationName, `/api/v2/organizations/${row.organizationName}`),
    'workspace-tasks': toMany('workspace-tasks', row.workspaceTasks),
  },
  links: { self: `/api/v2/tasks/${row.id}` },
});

export const renderWorkspaceTask = (row: WorkspaceTaskRow): Resource => ({
  id: row.id,
  type: 'workspace-tasks',
  attributes: {
    'enforcement-level': row.enforcementLevel,
    // The attribute of clients from before there were several stages.
    stage: row.stages[0] ?? null,
    stages: row.stages,
  },
  relationships: {
    task: toOne('tasks', row.task, `/api/v2/tasks/${row.task}`),
    workspace: toOne('workspaces', row.workspace, `/api/v2/workspaces/${row.workspace}`),
  },
  links: { self: `/api/v2/workspaces/${row.workspace}/tasks/${row.id}` },
});
