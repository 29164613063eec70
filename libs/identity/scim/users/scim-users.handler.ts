import { CommandHandler } from '@nestjs/cqrs';
import { Ids, Quotas } from '#platform/kernel';
import { AggregateHandler, EventStore, type OperationTable } from '#storage/event-store';
import { ChangeScimUser, type ScimUserOperations } from './scim-users.commands.js';
import { createScimUser, deleteScimUser, patchScimUser, replaceScimUser } from './scim-users.operations.js';
import { UserSignInMethods } from './user-sign-in-methods.port.js';

@CommandHandler(ChangeScimUser)
export class ScimUsersHandler extends AggregateHandler<ScimUserOperations> {
  protected readonly operations: OperationTable<ScimUserOperations>;

  constructor(store: EventStore, ids: Ids, quotas: Quotas, methods: UserSignInMethods) {
    super();
    const dependencies = { store, ids, quotas };
    this.operations = {
      CreateScimUser: ({ input, actor }) => createScimUser(dependencies, input, actor),
      ReplaceScimUser: ({ id, input, actor }) => replaceScimUser(dependencies, id, input, actor),
      PatchScimUser: ({ id, operations, actor }) => patchScimUser(dependencies, id, operations, actor),
      DeleteScimUser: ({ id, actor }) => deleteScimUser({ ...dependencies, methods }, id, actor),
    };
  }
}
