import { CommandHandler } from '@nestjs/cqrs';
import { Ids } from '#platform/kernel';
import type { Actor } from '#api/access';
import {
  AggregateCommand,
  type Operation,
  AggregateHandler,
  EventStore,
  type OperationTable,
} from '#storage/event-store';
import type { ScimGroupInput, ScimOperation } from '../protocol/scim-bodies.js';
import type { ScimGroupRow } from './scim-groups.queries.js';
import { GroupStatements } from './group-statements.port.js';
import { createScimGroup, deleteScimGroup, patchScimGroup, replaceScimGroup } from './scim-groups.operations.js';

type ScimGroupOperations = {
  CreateScimGroup: Operation<{ input: ScimGroupInput; actor: Actor }, ScimGroupRow>;
  ReplaceScimGroup: Operation<{ id: string; input: ScimGroupInput; actor: Actor }, ScimGroupRow>;
  PatchScimGroup: Operation<{ id: string; operations: readonly ScimOperation[]; actor: Actor }, ScimGroupRow>;
  DeleteScimGroup: Operation<{ id: string; actor: Actor }, void>;
};

export class ChangeScimGroup<T extends keyof ScimGroupOperations> extends AggregateCommand<ScimGroupOperations, T> {}

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
