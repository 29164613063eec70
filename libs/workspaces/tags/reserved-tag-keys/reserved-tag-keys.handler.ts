import { CommandHandler } from '@nestjs/cqrs';
import { type DataOf, Ids } from '#platform/kernel';
import { refuseTakenName } from '#platform/postgres';
import { type Actor, loadParentOrganization, createResource, changeResource } from '#api/access';
import {
  AggregateCommand,
  type Operation,
  AggregateHandler,
  EventStore,
  getFirstRow,
  getFirstRowOrNull,
  lockStream,
  type OperationTable,
} from '#storage/event-store';
import { type ReservedTagKeyCommand, reservedTagKey } from './reserved-tag-key.js';
import { type ReservedTagKeyRow, selectReservedTagKeyById, findReservedTagKey } from './reserved-tag-keys.view.js';

type ReservedTagKeyOperations = {
  CreateReservedTagKey: Operation<
    { organization: string; data: DataOf<ReservedTagKeyCommand, 'CreateReservedTagKey'>; actor: Actor },
    ReservedTagKeyRow
  >;
  /** Resolves to null if the key has been deleted meanwhile. */
  UpdateReservedTagKey: Operation<
    { id: string; data: DataOf<ReservedTagKeyCommand, 'UpdateReservedTagKey'>; actor: Actor },
    ReservedTagKeyRow | null
  >;
  DeleteReservedTagKey: Operation<{ id: string; actor: Actor }, void>;
};

export class ChangeReservedTagKey<T extends keyof ReservedTagKeyOperations> extends AggregateCommand<
  ReservedTagKeyOperations,
  T
> {}

const PERMISSION = 'manage-reserved-tag-keys';

const refuseTaken = refuseTakenName('reserved_tag_keys_organization_key_key', 'key');

type UpdateOrDelete = Exclude<ReservedTagKeyCommand, { type: 'CreateReservedTagKey' }>;

@CommandHandler(ChangeReservedTagKey)
export class ReservedTagKeysHandler extends AggregateHandler<ReservedTagKeyOperations> {
  protected readonly operations: OperationTable<ReservedTagKeyOperations> = {
    CreateReservedTagKey: (input) => this.create(input),
    UpdateReservedTagKey: ({ id, data, actor }) =>
      this.updateOrDelete(id, { type: 'UpdateReservedTagKey', data }, actor),
    DeleteReservedTagKey: async ({ id, actor }) => {
      await this.updateOrDelete(id, { type: 'DeleteReservedTagKey', data: {} }, actor);
    },
  };

  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
  ) {
    super();
  }

  private async create(input: ReservedTagKeyOperations['CreateReservedTagKey']['input']): Promise<ReservedTagKeyRow> {
    const { organization, data, actor } = input;
    const id = this.ids.next('rtk');
    const rows = await createResource(this.store, reservedTagKey, {
      id,
      actor,
      load: () => loadParentOrganization(this.store.database, actor, PERMISSION, organization),
      command: { type: 'CreateReservedTagKey', data },
      conditions: (parent) => [lockStream(parent.organization)],
      read: () => [selectReservedTagKeyById(id)],
    }).catch(refuseTaken);
    return getFirstRow<ReservedTagKeyRow>(rows);
  }

  private async updateOrDelete(id: string, command: UpdateOrDelete, actor: Actor): Promise<ReservedTagKeyRow | null> {
    const rows = await changeResource(this.store, reservedTagKey, {
      actor,
      load: () => findReservedTagKey(this.store.database, actor, PERMISSION, id),
      command,
      conditions: ({ organization }) => [lockStream(organization)],
      read: () => [selectReservedTagKeyById(id)],
    }).catch(refuseTaken);
    return getFirstRowOrNull<ReservedTagKeyRow>(rows);
  }
}
