import { CommandHandler } from '@nestjs/cqrs';
import { Ids } from '#platform/kernel';
import { AggregateHandler, EventStore, type OperationTable } from '#storage/event-store';
import { GroupStatements } from './group-statements.port.js';
import { ChangeScimGroup, type ScimGroupOperations } from './scim-groups.commands.js';
import { createScimGroup, deleteScimGroup, patchScimGroup, replaceScimGroup } from './scim-groups.operations.js';

@CommandHandler(ChangeScimGroup)
export class ScimGroupsHandler extends AggregateHandler<ScimGroupOperations> {
  protected readonly operations: OperationTable<ScimGroupOperations>;

  constructor(store: EventStore, ids: Ids, statements: GroupStatements) {
    super();
    const dependencies = { store, ids, statements };
    this.operations = {
      CreateScimGroup: ({ input, actor }) => createScimGroup(dependencies, input, actor),
      ReplaceScimGroup: ({ id, input, actor }) => replaceScimGroup(dependencies, id, input, actor),
      PatchScimGroup: ({ id, operations, actor }) => patchScimGroup(dependencies, id, operations, actor),
      DeleteScimGroup: ({ id, actor }) => deleteScimGroup(dependencies, id, actor),
    };
  }
}
