import { CommandHandler } from '@nestjs/cqrs';
import { Ids } from '#platform/kernel';
import {
  AggregateCommand,
  AggregateHandler,
  EventStore,
  getFirstRow,
  lockStream,
  raiseConflictWhen,
  type Operation,
  type OperationTable,
} from '#storage/event-store';
import { changeResource, createResource, requirePermission, type Actor } from '#api/access';
import { runTrigger } from './run-trigger.js';
import {
  findRunTriggerForCommand,
  hasOutdatedFacts,
  loadNewRunTrigger,
  selectRunTriggerById,
  type RunTriggerRow,
} from './run-triggers.view.js';

type RunTriggerOperations = {
  CreateRunTrigger: Operation<{ workspace: string; source: string; actor: Actor }, RunTriggerRow>;
  DeleteRunTrigger: Operation<{ id: string; actor: Actor }, void>;
};

export class ChangeRunTrigger<T extends keyof RunTriggerOperations> extends AggregateCommand<RunTriggerOperations, T> {}

@CommandHandler(ChangeRunTrigger)
export class RunTriggersHandler extends AggregateHandler<RunTriggerOperations> {
  protected readonly operations: OperationTable<RunTriggerOperations> = {
    CreateRunTrigger: (input) => this.create(input),
    DeleteRunTrigger: async ({ id, actor }) => {
      await changeResource(this.store, runTrigger, {
        actor,
        load: async () => {
          const row = await findRunTriggerForCommand(this.store.database, actor, id);
          requirePermission(actor, 'update-workspace', row);
          return row;
        },
        command: { type: 'DeleteRunTrigger', data: {} },
      });
    },
  };

  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
  ) {
    super();
  }

  /**
   * The rules concern all triggers of the organization. Without the lock, two requests could create triggers at the same time
   * that only together form a cycle.
   */
  private async create({ workspace, source, actor }: RunTriggerOperations['CreateRunTrigger']['input']) {
    const id = this.ids.next('rt');
    const rows = await createResource(this.store, runTrigger, {
      id,
      actor,
      load: () => loadNewRunTrigger(this.store.database, actor, { workspace, source }),
      command: ({ facts }) => ({ type: 'CreateRunTrigger', data: { workspace, sourceable: source, facts } }),
      conditions: ({ organization }) => [
        lockStream(`run triggers of ${organization}`),
        raiseConflictWhen(hasOutdatedFacts({ workspace, source })),
      ],
      read: () => [selectRunTriggerById(id, actor)],
    });
    return getFirstRow<RunTriggerRow>(rows);
  }
}
