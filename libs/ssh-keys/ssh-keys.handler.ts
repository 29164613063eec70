import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Ids, type Sql } from '#kernel';
import { EventStore, firstRow, firstRowOrNull, unborn, unchanged } from '#event-store';
import { contextOf, placeInOrganization, type Actor } from '#access';
import { Vault } from '#vault';
import { checkPrivateKey, sshKey, type SshKeyCommand } from './ssh-key.js';
import { sshKeyById, sshKeyFor, type SshKeyRow } from './ssh-keys.queries.js';

export class CreateSshKey extends Command<SshKeyRow> {
  constructor(
    readonly organization: string,
    readonly name: string,
    readonly privateKey: string,
    readonly actor: Actor,
  ) {
    super();
  }
}

/** A command for one key, with the text that takes the place of the one before; null when the key is gone then. */
export class ToSshKey extends Command<SshKeyRow | null> {
  constructor(
    readonly id: string,
    readonly command: Exclude<SshKeyCommand, { type: 'CreateSshKey' }>,
    readonly privateKey: string | null,
    readonly actor: Actor,
  ) {
    super();
  }
}

@CommandHandler(CreateSshKey)
export class CreateSshKeyHandler implements ICommandHandler<CreateSshKey> {
  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
    private readonly vault: Vault,
  ) {}

  async execute({ organization, name, privateKey, actor }: CreateSshKey): Promise<SshKeyRow> {
    const id = this.ids.next('sshkey');
    const { rows } = await this.store.handle({
      decider: sshKey,
      load: async () => {
        const place = await placeInOrganization(this.store.database, actor, 'manage-ssh-keys', organization);
        checkPrivateKey(privateKey);
        return { ...unborn(id, sshKey), place };
      },
      command: () => ({ type: 'CreateSshKey', data: { name } }) as const,
      organization: ({ place }) => place.organization,
      holding: ({ place }) => [unchanged(place.organization, place.version)],
      context: contextOf(actor),
      read: ({ place }) => [sshKeyById(id), this.vault.seal(id, place.organization, privateKey)],
    });
    return firstRow<SshKeyRow>(rows);
  }
}

@CommandHandler(ToSshKey)
export class SshKeysHandler implements ICommandHandler<ToSshKey> {
  constructor(
    private readonly store: EventStore,
    private readonly vault: Vault,
  ) {}

  async execute({ id, command, privateKey, actor }: ToSshKey): Promise<SshKeyRow | null> {
    const { rows } = await this.store.handle({
      decider: sshKey,
      load: async () => {
        const row = await sshKeyFor(this.store.database, actor, 'manage-ssh-keys', id);
        if (privateKey !== null) checkPrivateKey(privateKey);
        return { ...(await this.store.restore(id, sshKey, row.snapshot)), row };
      },
      command: () => command,
      organization: ({ row }) => row.organization,
      holding: ({ row }) => row.held.map(({ stream, version }) => unchanged(stream, version)),
      context: contextOf(actor),
      read: ({ row }): readonly Sql[] => [
        sshKeyById(id),
        ...(privateKey === null ? [] : [this.vault.seal(id, row.organization, privateKey)]),
      ],
    });
    return firstRowOrNull<SshKeyRow>(rows);
  }
}
