import type { ApiResource, RequestResource } from '#packages/client';
import { readDocument, requireSuccess } from './api-error.js';
import { api } from './client.js';
import { organizationKey } from './organizations.js';
import { pagedQuery } from './pages.js';
import { useChange } from './use-change.js';

export type RunTask = ApiResource<'RunTask'>;
export type TaskSettings = RequestResource<'createRunTask'>['attributes'];

/** The points of a run at which tasks are requested, in their order. */
export const TASK_STAGES = ['pre_plan', 'post_plan', 'pre_apply', 'post_apply'] as const;
export type ChosenStage = (typeof TASK_STAGES)[number];

export const TASK_LEVELS = ['advisory', 'mandatory'] as const;

const TYPE = 'tasks';
const TASKS = '/api/v2/organizations/{organization}/tasks';
const TASK = '/api/v2/tasks/{id}';

export const tasksKey = (organization: string) => [...organizationKey(organization), TYPE] as const;

/** The run tasks of an organization, page by page. */
export const runTasksQuery = (organization: string) =>
  pagedQuery([...tasksKey(organization), 'list'], (page, signal) =>
    readDocument(api.GET(TASKS, { params: { path: { organization }, query: page }, signal })),
  );

export const useCreateRunTask = (organization: string) =>
  useChange({
    mutationFn: (attributes: TaskSettings) =>
      requireSuccess(
        api.POST(TASKS, { params: { path: { organization } }, body: { data: { type: TYPE, attributes } } }),
      ),
    // The request can have the key of the signature.
    gcTime: 0,
    rereads: tasksKey(organization),
  });

export const useUpdateRunTask = (organization: string, id: string) =>
  useChange({
    mutationFn: (attributes: Partial<TaskSettings>) =>
      requireSuccess(api.PATCH(TASK, { params: { path: { id } }, body: { data: { type: TYPE, attributes } } })),
    gcTime: 0,
    rereads: tasksKey(organization),
  });

export const useDeleteRunTask = (organization: string, id: string) =>
  useChange({
    mutationFn: () => requireSuccess(api.DELETE(TASK, { params: { path: { id } } })),
    // The workspaces lose the task too.
    rereads: organizationKey(organization),
  });
