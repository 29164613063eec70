import { resource } from '../../support/seeds.js';
import { makeRunTask, makeWorkspaceTask, newRunTask, newWorkspaceTask } from '../../support/task-service.js';
import type { MatrixRow, MatrixTarget } from '../matrix.js';
import { createTarget, freshWorkspace, inAcme, onTheWorkspace, organization } from '../targets.js';

const TASKS = '/organizations/:organization/tasks';
const OF_WORKSPACE = '/workspaces/:workspace/tasks';

const task: MatrixTarget = {
  ...createTarget(inAcme, 'runTask'),
  fresh: async (_, { server, acme, unique }) => ({
    params: { id: await makeRunTask(server, acme.name, unique('task')) },
  }),
};

const workspaceOfTasks: MatrixTarget = {
  scope: onTheWorkspace,
  params: (_, { one }) => ({ workspace: one }),
  fresh: async (caller, world) => ({ params: { workspace: (await freshWorkspace(caller, world)).id } }),
};

const workspaceTask: MatrixTarget = {
  scope: onTheWorkspace,
  params: (_, { one, resources }) => ({ workspace: one, id: resources.workspaceTask }),
  fresh: async (caller, world) => {
    const { id } = await freshWorkspace(caller, world);
    const attached = await makeWorkspaceTask(world.server, id, world.resources.attachedTask);
    return { params: { workspace: id, id: attached } };
  },
};

/** Run tasks of organizations. */
export const runTaskRows: readonly MatrixRow[] = [
  {
    route: `GET ${TASKS}`,
    about: organization,
    demands: ['read-organization'],
    status: 200,
    shows: () => ['attached-task', 'task'],
  },
  {
    route: `POST ${TASKS}`,
    about: organization,
    demands: ['manage-run-tasks'],
    status: 201,
    trail: ['task create'],
    bodyFor: ({ world }) => newRunTask(world.unique('created'), { url: world.resources.taskService }),
  },
  { route: 'GET /tasks/:id', about: task, demands: ['read-organization'], status: 200 },
  {
    route: 'PATCH /tasks/:id',
    about: task,
    demands: ['manage-run-tasks'],
    status: 200,
    trail: ['task update'],
    fresh: true,
    body: resource('tasks', { enabled: false }),
  },
  {
    route: 'DELETE /tasks/:id',
    about: task,
    demands: ['manage-run-tasks'],
    status: 204,
    trail: ['task destroy'],
    fresh: true,
  },
];

/** Run tasks of workspaces. */
export const workspaceTaskRows: readonly MatrixRow[] = [
  {
    route: `GET ${OF_WORKSPACE}`,
    about: workspaceOfTasks,
    demands: ['read-runs'],
    status: 200,
    shows: ({ world }) => [world.resources.attachedTask],
    nameOf: ({ relationships }) => relationships.task.data.id as string,
  },
  {
    route: `POST ${OF_WORKSPACE}`,
    about: workspaceOfTasks,
    demands: ['manage-run-tasks'],
    status: 201,
    trail: ['workspace_task create'],
    fresh: true,
    bodyFor: ({ world }) => newWorkspaceTask(world.resources.attachedTask),
  },
  { route: `GET ${OF_WORKSPACE}/:id`, about: workspaceTask, demands: ['read-runs'], status: 200, fresh: true },
  {
    route: `PATCH ${OF_WORKSPACE}/:id`,
    about: workspaceTask,
    demands: ['manage-run-tasks'],
    status: 200,
    trail: ['workspace_task update'],
    fresh: true,
    body: resource('workspace-tasks', { 'enforcement-level': 'advisory' }),
  },
  {
    route: `DELETE ${OF_WORKSPACE}/:id`,
    about: workspaceTask,
    demands: ['manage-run-tasks'],
    status: 204,
    trail: ['workspace_task destroy'],
    fresh: true,
  },
];
