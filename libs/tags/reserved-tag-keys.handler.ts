import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Ids } from '#kernel';
import { aloneWith, EventStore, firstRow, firstRowOrNull, refuseTakenName, unborn, unchanged } from '#event-store';
import { contextOf, placeInOrganization, type Actor } from '#access';
import { reservedTagKey, type ReservedTagKeyCommand } from './reserved-tag-key.js';
import { reservedTagKeyById, reservedTagKeyFor, type ReservedTagKeyRow } from './reserved-tag-keys.queries.js';

type BirthCommand = Extract<ReservedTagKeyCommand, { type: 'CreateReservedTagKey' }>;

export class CreateReservedTagKey extends Command<ReservedTagKeyRow> {
  constructor(
    readonly organization: string,
    readonly command: BirthCommand,
    readonly actor: Actor,
  ) {
    super();
  }
}

/** A command for one reserved tag key; resolves to how it stands then, null when it is gone. */
export class ToReservedTagKey extends Command<ReservedTagKeyRow | null> {
  constructor(
    readonly id: string,
    readonly command: Exclude<ReservedTagKeyCommand, BirthCommand>,
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
          const place = await placeInOrganization(this.store.database, actor, PERMISSION, organization);
          return { ...unborn(id, reservedTagKey), place };
        },
        command: () => command,
        organization: ({ place }) => place.organization,
        holding: ({ place }) => [unchanged(place.organization, place.version)],
        conditions: ({ place }) => [aloneWith(place.organization)],
        context: contextOf(actor),
        read: () => [reservedTagKeyById(id)],
      })
      .catch(refuseTaken);
    return firstRow<ReservedTagKeyRow>(rows);
  }
}

@CommandHandler(ToReservedTagKey)
export class ReservedTagKeysHandler implements ICommandHandler<ToReservedTagKey> {
  constructor(private readonly store: EventStore) {}

  async execute({ id, command, actor }: ToReservedTagKey): Promise<ReservedTagKeyRow | null> {
    const { rows } = await this.store
      .handle({
        decider: reservedTagKey,
        load: async () => {
          const row = await reservedTagKeyFor(this.store.database, actor, PERMISSION, id);
          return { ...(await this.store.restore(id, reservedTagKey, row.snapshot)), row };
        },
        command: () => command,
        organization: ({ row }) => row.organization,
        holding: ({ row }) => row.held.map(({ stream, version }) => unchanged(stream, version)),
        conditions: ({ row }) => [aloneWith(row.organization)],
        context: contextOf(actor),
        read: () => [reservedTagKeyById(id)],
      })
      .catch(refuseTaken);
    return firstRowOrNull<ReservedTagKeyRow>(rows);
  }
}
