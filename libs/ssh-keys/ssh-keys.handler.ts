import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Ids } from '#kernel';
import { Database, EventStore, unborn, unchanged } from '#event-store';
import { contextOf, type Actor } from '#access';
import { Vault } from '#vault';
import { checkPrivateKey, sshKey, type SshKeyCommand } from './ssh-key.js';
import { placeForNew, sshKeyById, sshKeyFor, type SshKeyRow } from './ssh-keys.queries.js';

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

/** What is undefined stays as it is. Resolves to how the key stands then, null when it is gone. */
export class UpdateSshKey extends Command<SshKeyRow | null> {
  constructor(
    readonly id: string,
    readonly name: string | undefined,
    readonly privateKey: string | undefined,
    readonly actor: Actor,
  ) {
    super();
  }
}

export class DeleteSshKey extends Command<void> {
  constructor(
    readonly id: string,
    readonly actor: Actor,
  ) {
    super();
  }
}

@CommandHandler(CreateSshKey)
export class CreateSshKeyHandler implements ICommandHandler<CreateSshKey> {
  constructor(
    private readonly store: EventStore,
    private readonly database: Database,
    private readonly ids: Ids,
    private readonly vault: Vault,
  ) {}

  async execute({ organization, name, privateKey, actor }: CreateSshKey): Promise<SshKeyRow> {
    const id = this.ids.next('sshkey');
    const { rows } = await this.store.handle({
      decider: sshKey,
      load: async () => {
        const place = await placeForNew(this.database, actor, organization);
        checkPrivateKey(privateKey);
        return { ...unborn(id, sshKey), place };
      },
      command: () => ({ type: 'CreateSshKey', data: { name } }) as const,
      organization: ({ place }) => place.organization,
      holding: ({ place }) => [unchanged(place.organization, place.version)],
      context: contextOf(actor),
      read: ({ place }) => [sshKeyById(id), this.vault.seal(id, place.organization, privateKey)],
    });
    return rows[0]?.[0] as SshKeyRow;
  }
}

@CommandHandler(UpdateSshKey)
export class UpdateSshKeyHandler implements ICommandHandler<UpdateSshKey> {
  constructor(
    private readonly store: EventStore,
    private readonly database: Database,
    private readonly vault: Vault,
  ) {}

  async execute({ id, name, privateKey, actor }: UpdateSshKey): Promise<SshKeyRow | null> {
    const command = { type: 'UpdateSshKey', data: { name, replaced: privateKey !== undefined } } as const;
    const { rows } = await this.store.handle({
      decider: sshKey,
      load: async () => {
        const row = await sshKeyFor(this.database, actor, 'manage-ssh-keys', id);
        if (privateKey !== undefined) checkPrivateKey(privateKey);
        return { ...(await this.store.restore(id, sshKey, row.snapshot)), row };
      },
      command: (): SshKeyCommand => command,
      organization: ({ row }) => row.organization,
      context: contextOf(actor),
      read: ({ row }) => [
        sshKeyById(id),
        ...(privateKey === undefined ? [] : [this.vault.seal(id, row.organization, privateKey)]),
      ],
    });
    return (rows[0]?.[0] as SshKeyRow | undefined) ?? null;
  }
}

@CommandHandler(DeleteSshKey)
export class DeleteSshKeyHandler implements ICommandHandler<DeleteSshKey> {
  constructor(
    private readonly store: EventStore,
    private readonly database: Database,
    private readonly vault: Vault,
  ) {}

  async execute({ id, actor }: DeleteSshKey): Promise<void> {
    await this.store.handle({
      decider: sshKey,
      load: async () => {
        const row = await sshKeyFor(this.database, actor, 'manage-ssh-keys', id);
        return { ...(await this.store.restore(id, sshKey, row.snapshot)), row };
      },
      command: () => ({ type: 'DeleteSshKey', data: {} }) as const,
      organization: ({ row }) => row.organization,
      context: contextOf(actor),
      read: () => [this.vault.forget(id)],
    });
  }
}
