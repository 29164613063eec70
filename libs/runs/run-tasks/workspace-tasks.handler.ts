import { CommandHandler } from '@nestjs/cqrs';
import { Ids, unprocessable } from '#platform/kernel';
import {
  AggregateCommand,
  AggregateHandler,
  EventStore,
  getFirstRow,
  getFirstRowOrNull,
  lockStream,
  raiseConflictWhen,
  type Operation,
  type OperationTable,
} from '#storage/event-store';
import { changeResource, createResource, type Actor } from '#api/access';
import { workspaceTask, type WorkspaceTaskSettings, type WorkspaceTaskSubject } from './workspace-task.js';
import {
  findWorkspaceTaskForCommand,
  hasTaskOrTasks,
  loadWorkspaceForTask,
  selectWorkspaceTaskById,
  type WorkspaceTaskRow,
} from './workspace-tasks.view.js';

type WorkspaceTaskOperations = {
  CreateWorkspaceTask: Operation<
    { workspace: string; task: string; settings: WorkspaceTaskSettings; actor: Actor },
    WorkspaceTaskRow
  >;
  /** Resolves to null if the task has been deleted meanwhile. */
  UpdateWorkspaceTask: Operation<
    { workspace: string; id: string; changes: Partial<WorkspaceTaskSettings>; actor: Actor },
    WorkspaceTaskRow | null
  >;
  DeleteWorkspaceTask: Operation<{ workspace: string; id: string; actor: Actor }, void>;
};

export class ChangeWorkspaceTask<T extends keyof WorkspaceTaskOperations> extends AggregateCommand<
  WorkspaceTaskOperations,
  T
> {}

/** The most tasks of a workspace, besides those of all workspaces. */
const MAX_TASKS = 20;

/** Creations lock this name, so that the number of tasks is exact. No event has this stream. */
const nameLock = (workspace: string): string => `tasks of ${workspace}`;

const toSubject = ({ workspace, workspaceName, task, taskName }: WorkspaceTaskRow): WorkspaceTaskSubject => ({
  workspace,
  workspaceName,
  task,
  taskName,
});

@CommandHandler(ChangeWorkspaceTask)
export class WorkspaceTasksHandler extends AggregateHandler<WorkspaceTaskOperations> {
  protected readonly operations: OperationTable<WorkspaceTaskOperations> = {
    CreateWorkspaceTask: (input) => this.create(input),
    UpdateWorkspaceTask: async ({ workspace, id, changes, actor }) => {
      const rows = await changeResource(this.store, workspaceTask, {
        actor,
        load: () => findWorkspaceTaskForCommand(this.store.database, actor, workspace, id),
        command: (row) => ({ type: 'UpdateWorkspaceTask', data: { subject: toSubject(row), changes } }),
        read: () => [selectWorkspaceTaskById(id)],
      });
      return getFirstRowOrNull<WorkspaceTaskRow>(rows);
    },
    DeleteWorkspaceTask: async ({ workspace, id, actor }) => {
      await changeResource(this.store, workspaceTask, {
        actor,
        load: () => findWorkspaceTaskForCommand(this.store.database, actor, workspace, id),
        command: (row) => ({ type: 'DeleteWorkspaceTask', data: { subject: toSubject(row) } }),
      });
    },
  };

  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
  ) {
    super();
  }

  private async create(input: WorkspaceTaskOperations['CreateWorkspaceTask']['input']): Promise<WorkspaceTaskRow> {
    const { workspace, task, settings, actor } = input;
    const id = this.ids.next('wstask');
    const rows = await createResource(this.store, workspaceTask, {
      id,
      actor,
      load: () => this.loadWorkspace(workspace, task, actor),
      command: ({ workspaceName, taskName }) => ({
        type: 'CreateWorkspaceTask',
        data: { workspace, workspaceName, task, taskName, ...settings },
      }),
      conditions: () => [
        lockStream(nameLock(workspace)),
        raiseConflictWhen(hasTaskOrTasks(workspace, task, MAX_TASKS)),
      ],
      read: () => [selectWorkspaceTaskById(id)],
    });
    return getFirstRow<WorkspaceTaskRow>(rows);
  }

  private async loadWorkspace(workspace: string, task: string, actor: Actor) {
    const { taskName, ...row } = await loadWorkspaceForTask(this.store.database, actor, workspace, task);
    const pointer = '/data/relationships/task/data/id';
    if (taskName === null) throw unprocessable(`Run task ${task} does not exist in the organization`, pointer);
    if (row.isAttached) throw unprocessable(`The workspace has the run task ${taskName} already`, pointer);
    if (row.existing >= MAX_TASKS) {
      throw unprocessable(`A workspace can have at most ${MAX_TASKS} run tasks. Delete one first`);
    }
    return { ...row, taskName };
  }
}
