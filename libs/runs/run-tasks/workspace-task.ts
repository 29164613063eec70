import { z } from 'zod';
import {
  conflict,
  defineEvents,
  requireActive,
  unprocessable,
  type Decider,
  type EventsOf,
  type Message,
} from '#platform/kernel';
import { inWorkspace } from '#api/access/rules';
import {
  DEFAULT_STAGES,
  enforcementLevel,
  sortStages,
  stageList,
  type EnforcementLevel,
  type TaskStageName,
} from './task-stages.js';

/** The names are for the trail. */
const data = z.strictObject({
  workspace: z.string(),
  workspaceName: z.string(),
  task: z.string(),
  taskName: z.string(),
  enforcementLevel,
  stages: stageList,
});

export type WorkspaceTaskSettings = {
  readonly enforcementLevel: EnforcementLevel;
  readonly stages: readonly TaskStageName[];
};

/** The workspace and the run task, with their names at the time of a change. */
export type WorkspaceTaskSubject = {
  readonly workspace: string;
  readonly workspaceName: string;
  readonly task: string;
  readonly taskName: string;
};

const meta = (after: WorkspaceTaskSettings & WorkspaceTaskSubject) => ({
  task_enforcement_level: after.enforcementLevel,
  task_stage: after.stages.join(','),
  workspace: after.workspaceName,
  workspace_id: after.workspace,
  organization_task: after.taskName,
  organization_task_id: after.task,
});

const ids = { refersTo: { workspace: ['ws'], task: ['task'] } };

/**
 * A run task of a workspace, with its stages and what a failure means.
 *
 *   absent ──create──► active ──delete──► deleted
 */
export const workspaceTaskEvents = defineEvents(
  {
    topic: 'run-tasks',
    stream: 'wstask',
    audited: 'workspace_task',
    live: inWorkspace('workspace-tasks', 'read-runs', { field: 'workspace' }),
  },
  {
    WorkspaceTaskCreated: { schema: data, audit: { action: 'create', meta }, live: 'created', ids },
    WorkspaceTaskUpdated: { schema: data, audit: { action: 'update', meta }, live: 'changed', ids },
    WorkspaceTaskDeleted: { schema: data, audit: { action: 'destroy', meta }, live: 'deleted', ids },
  },
);

export type WorkspaceTaskEvent = EventsOf<typeof workspaceTaskEvents>;

type WorkspaceTaskCommand =
  | Message<'CreateWorkspaceTask', WorkspaceTaskSubject & WorkspaceTaskSettings>
  | Message<'UpdateWorkspaceTask', { subject: WorkspaceTaskSubject; changes: Partial<WorkspaceTaskSettings> }>
  | Message<'DeleteWorkspaceTask', { subject: WorkspaceTaskSubject }>;

type WorkspaceTaskState =
  { readonly status: 'absent' | 'deleted' } | ({ readonly status: 'active' } & WorkspaceTaskSettings);

const parseStages = (stages: readonly TaskStageName[]): TaskStageName[] => {
  if (stages.length > 0) return sortStages(stages);
  throw unprocessable(`Stages must name at least one stage, such as ${DEFAULT_STAGES.join(', ')}`, 'stages');
};

const isSame = (before: WorkspaceTaskSettings, after: WorkspaceTaskSettings): boolean =>
  before.enforcementLevel === after.enforcementLevel && before.stages.join() === after.stages.join();

export const workspaceTask: Decider<WorkspaceTaskState, WorkspaceTaskCommand, WorkspaceTaskEvent> = {
  version: 1,
  initial: { status: 'absent' },
  decide: {
    CreateWorkspaceTask: (input, state) => {
      if (state.status !== 'absent') throw conflict('Workspace task exists already');
      return [{ type: 'WorkspaceTaskCreated', data: { ...input, stages: parseStages(input.stages) } }];
    },
    UpdateWorkspaceTask: ({ subject, changes }, state) => {
      const before = requireActive(state);
      const after = {
        enforcementLevel: changes.enforcementLevel ?? before.enforcementLevel,
        stages: parseStages(changes.stages ?? before.stages),
      };
      return isSame(before, after) ? [] : [{ type: 'WorkspaceTaskUpdated', data: { ...subject, ...after } }];
    },
    DeleteWorkspaceTask: ({ subject }, state) => {
      const { enforcementLevel: level, stages } = requireActive(state);
      const removed = { ...subject, enforcementLevel: level, stages: [...stages] };
      return [{ type: 'WorkspaceTaskDeleted', data: removed }];
    },
  },
  evolve: {
    WorkspaceTaskCreated: ({ enforcementLevel: level, stages }) => ({
      status: 'active',
      enforcementLevel: level,
      stages,
    }),
    WorkspaceTaskUpdated: ({ enforcementLevel: level, stages }) => ({
      status: 'active',
      enforcementLevel: level,
      stages,
    }),
    WorkspaceTaskDeleted: () => ({ status: 'deleted' }),
  },
};
