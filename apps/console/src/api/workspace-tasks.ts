import { queryOptions } from '@tanstack/react-query';
import type { ApiResource, RequestResource } from '#packages/client';
import { readDocument, requireSuccess } from './api-error.js';
import { api } from './client.js';
import { readAllPages } from './pages.js';
import { tasksKey } from './run-tasks.js';
import { useChange } from './use-change.js';
import type { Workspace } from './workspaces.js';

export type AttachedTask = ApiResource<'WorkspaceTask'>;
export type AttachedTaskSettings = RequestResource<'createWorkspaceTask'>['attributes'];

const TYPE = 'workspace-tasks';
const TASKS = '/api/v2/workspaces/{workspace}/tasks';
const TASK = '/api/v2/workspaces/{workspace}/tasks/{id}';

/** The run tasks of the organization, and those among them that are attached to the workspace. Both lists are short. */
export const workspaceTasksQuery = (organization: string, { id: workspace }: Workspace) =>
  queryOptions({
    queryKey: [...tasksKey(organization), 'of-workspace', workspace],
    queryFn: async ({ signal }) => {
      const [tasks, attached] = await Promise.all([
        readAllPages((query) => {
          const params = { path: { organization }, query };
          return readDocument(api.GET('/api/v2/organizations/{organization}/tasks', { params, signal }));
        }),
        readAllPages((query) => readDocument(api.GET(TASKS, { params: { path: { workspace }, query }, signal }))),
      ]);
      return { tasks: tasks.flatMap(({ data }) => data), attached: attached.flatMap(({ data }) => data) };
    },
  });

export const useAttachTask = (organization: string, { id: workspace }: Workspace) =>
  useChange({
    mutationFn: ({ task, attributes }: { readonly task: string; readonly attributes: AttachedTaskSettings }) => {
      const body = { data: { type: TYPE, attributes, relationships: { task: { data: { id: task } } } } } as const;
      return requireSuccess(api.POST(TASKS, { params: { path: { workspace } }, body }));
    },
    // The list of the organization counts the workspaces.
    rereads: tasksKey(organization),
  });

type OfWorkspace = { readonly workspace: Workspace; readonly id: string };

export const useUpdateWorkspaceTask = (organization: string, { workspace, id }: OfWorkspace) =>
  useChange({
    mutationFn: (attributes: Partial<AttachedTaskSettings>) => {
      const path = { workspace: workspace.id, id };
      return requireSuccess(api.PATCH(TASK, { params: { path }, body: { data: { type: TYPE, attributes } } }));
    },
    rereads: tasksKey(organization),
  });

export const useDetachTask = (organization: string, { workspace, id }: OfWorkspace) =>
  useChange({
    mutationFn: () => requireSuccess(api.DELETE(TASK, { params: { path: { workspace: workspace.id, id } } })),
    rereads: tasksKey(organization),
  });
