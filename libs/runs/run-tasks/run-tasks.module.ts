import { Module, type DynamicModule } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { Clock } from '#platform/kernel';
import { defineAggregate, toProjection, type ModuleDefinition } from '#storage/event-store';
import { runTask, runTaskEvents } from './run-task.js';
import { TasksController } from './tasks.controller.js';
import { RunTasksHandler } from './run-tasks.handler.js';
import { runTaskNames, runTasks, runTaskSecrets } from './run-tasks.view.js';
import { TaskSender } from './task.sender.js';
import { TaskVerification } from './task-verification.service.js';
import { workspaceTask, workspaceTaskEvents } from './workspace-task.js';
import { WorkspaceTasksController } from './workspace-tasks.controller.js';
import { WorkspaceTasksHandler } from './workspace-tasks.handler.js';
import { workspaceTasks } from './workspace-tasks.view.js';

export const runTasksDefinition: ModuleDefinition = {
  name: 'run-tasks',
  kinds: { ...runTaskEvents, ...workspaceTaskEvents },
  aggregates: [defineAggregate('task', runTask), defineAggregate('wstask', workspaceTask)],
  projections: [
    toProjection(runTasks),
    toProjection(runTaskNames),
    toProjection(runTaskSecrets),
    toProjection(workspaceTasks),
  ],
  followers: [],
  migrations: new URL('./sql/', import.meta.url),
};

type RunTasksOptions = {
  /** Hosts with private addresses that the services of run tasks may have. */
  readonly outboundPrivateHosts: readonly string[];
  readonly publicUrl: string;
};

@Module({})
export class RunTasksModule {
  static with({ outboundPrivateHosts, publicUrl }: RunTasksOptions): DynamicModule {
    return {
      module: RunTasksModule,
      imports: [CqrsModule],
      controllers: [TasksController, WorkspaceTasksController],
      providers: [
        RunTasksHandler,
        WorkspaceTasksHandler,
        {
          provide: TaskVerification,
          useFactory: (clock: Clock) => new TaskVerification(new TaskSender(outboundPrivateHosts), clock, publicUrl),
          inject: [Clock],
        },
      ],
    };
  }
}
