import { CommandHandler } from '@nestjs/cqrs';
import { Ids, Quotas } from '#platform/kernel';
import type { Actor } from '#api/access';
import {
  AggregateCommand,
  type Operation,
  AggregateHandler,
  EventStore,
  type OperationTable,
} from '#storage/event-store';
import type { ScimUserInput, ScimOperation } from '../protocol/scim-bodies.js';
import type { ScimUserRow } from './scim-users.queries.js';
import { createScimUser, deleteScimUser, patchScimUser, replaceScimUser } from './scim-users.operations.js';
import { UserSignInMethods } from './user-sign-in-methods.port.js';

type ScimUserOperations = {
  CreateScimUser: Operation<{ input: ScimUserInput; actor: Actor }, ScimUserRow>;
  ReplaceScimUser: Operation<{ id: string; input: ScimUserInput; actor: Actor }, ScimUserRow>;
  PatchScimUser: Operation<{ id: string; operations: readonly ScimOperation[]; actor: Actor }, ScimUserRow>;
  DeleteScimUser: Operation<{ id: string; actor: Actor }, void>;
};

export class ChangeScimUser<T extends keyof ScimUserOperations> extends AggregateCommand<ScimUserOperations, T> {}

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
