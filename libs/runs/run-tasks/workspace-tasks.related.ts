import { can, type Actor, type Grant } from '#api/access';
import { defineRelated, type RelatedResources } from '#api/json-api';
import { selectRelatedWorkspaces } from '#workspaces/workspaces';
import { renderWorkspaceTask } from './run-tasks.document.js';
import { selectWorkspacesOfTasks, selectWorkspaceTasksByIds, type WorkspaceTaskRow } from './workspace-tasks.view.js';

/** Selects workspace tasks that the caller may read, for documents that include them. */
const selectRelatedWorkspaceTasks = (ids: readonly string[], actor: Actor): RelatedResources =>
  defineRelated<WorkspaceTaskRow & { readonly grants: readonly Grant[] }>(
    selectWorkspaceTasksByIds(ids, actor),
    (rows) => rows.filter((row) => can(actor, 'read-runs', row)).map(renderWorkspaceTask),
  );

export const RUN_TASK_INCLUDES = ['workspace_tasks', 'workspace_tasks.workspace'] as const;

/** Selects what documents of run tasks include. Including the workspaces includes the workspace tasks. */
export const selectIncludedOfRunTasks = (
  workspaceTasks: readonly string[],
  includes: ReadonlySet<(typeof RUN_TASK_INCLUDES)[number]>,
  actor: Actor,
): readonly RelatedResources[] => {
  if (workspaceTasks.length === 0) return [];
  return [
    selectRelatedWorkspaceTasks(workspaceTasks, actor),
    ...(includes.has('workspace_tasks.workspace')
      ? [selectRelatedWorkspaces(selectWorkspacesOfTasks(workspaceTasks), actor)]
      : []),
  ];
};
