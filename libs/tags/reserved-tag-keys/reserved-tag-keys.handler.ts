import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Ids } from '#kernel';
import { lockStream, EventStore, getFirstRow, getFirstRowOrNull, newStream, expectVersion } from '#event-store';
import { refuseTakenName } from '#postgres';
import { createEventContext, loadParentOrganization, type Actor } from '#access';
import { reservedTagKey, type ReservedTagKeyCommand } from './reserved-tag-key.js';
import { selectReservedTagKeyById, findReservedTagKey, type ReservedTagKeyRow } from './reserved-tag-keys.queries.js';

type CreateReservedTagKeyCommand = Extract<ReservedTagKeyCommand, { type: 'CreateReservedTagKey' }>;

export class CreateReservedTagKey extends Command<ReservedTagKeyRow> {
  constructor(
    readonly organization: string,
    readonly command: CreateReservedTagKeyCommand,
    readonly actor: Actor,
  ) {
    super();
  }
}

/** A command for one reserved tag key; resolves to how it stands then, null when it is gone. */
export class ChangeReservedTagKey extends Command<ReservedTagKeyRow | null> {
  constructor(
    readonly id: string,
    readonly command: Exclude<ReservedTagKeyCommand, CreateReservedTagKeyCommand>,
    readonly actor: Actor,
  ) {
    super();
  }
}

const PERMISSION = 'manage-reserved-tag-keys';

const refuseTaken = refuseTakenName('reserved_tag_keys_organization_key_key', 'key');

@CommandHandler(CreateReservedTagKey)
export class CreateReservedTagKeyHandler implements ICommandHandler<CreateReservedTagKey> {
  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
  ) {}

  async execute({ organization, command, actor }: CreateReservedTagKey): Promise<ReservedTagKeyRow> {
    const id = this.ids.next('rtk');
    const { rows } = await this.store
      .handle({
        decider: reservedTagKey,
        load: async () => {
          const place = await loadParentOrganization(this.store.database, actor, PERMISSION, organization);
          return { ...newStream(id, reservedTagKey), place };
        },
        command: () => command,
        organization: ({ place }) => place.organization,
        holding: ({ place }) => [expectVersion(place.organization, place.version)],
        conditions: ({ place }) => [lockStream(place.organization)],
        context: createEventContext(actor),
        read: () => [selectReservedTagKeyById(id)],
      })
      .catch(refuseTaken);
    return getFirstRow<ReservedTagKeyRow>(rows);
  }
}

@CommandHandler(ChangeReservedTagKey)
export class ReservedTagKeysHandler implements ICommandHandler<ChangeReservedTagKey> {
  constructor(private readonly store: EventStore) {}

  async execute({ id, command, actor }: ChangeReservedTagKey): Promise<ReservedTagKeyRow | null> {
    const { rows } = await this.store
      .handle({
        decider: reservedTagKey,
        load: async () => {
          const row = await findReservedTagKey(this.store.database, actor, PERMISSION, id);
          return { ...(await this.store.restore(id, reservedTagKey, row.snapshot)), row };
        },
        command: () => command,
        organization: ({ row }) => row.organization,
        holding: ({ row }) => row.held.map(({ stream, version }) => expectVersion(stream, version)),
        conditions: ({ row }) => [lockStream(row.organization)],
        context: createEventContext(actor),
        read: () => [selectReservedTagKeyById(id)],
      })
      .catch(refuseTaken);
    return getFirstRowOrNull<ReservedTagKeyRow>(rows);
  }
}
