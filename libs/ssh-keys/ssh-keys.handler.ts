import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Ids, type Sql } from '#kernel';
import { EventStore, getFirstRow, getFirstRowOrNull, newStream, expectVersion } from '#event-store';
import { createEventContext, loadParentOrganization, type Actor } from '#access';
import { Vault } from '#vault';
import { checkPrivateKey, sshKey, type SshKeyCommand } from './ssh-key.js';
import { selectSshKeyById, findSshKey, type SshKeyRow } from './ssh-keys.queries.js';

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
export class ChangeSshKey extends Command<SshKeyRow | null> {
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
        const place = await loadParentOrganization(this.store.database, actor, 'manage-ssh-keys', organization);
        checkPrivateKey(privateKey);
        return { ...newStream(id, sshKey), place };
      },
      command: () => ({ type: 'CreateSshKey', data: { name } }) as const,
      organization: ({ place }) => place.organization,
      holding: ({ place }) => [expectVersion(place.organization, place.version)],
      context: createEventContext(actor),
      read: ({ place }) => [selectSshKeyById(id), this.vault.seal(id, place.organization, privateKey)],
    });
    return getFirstRow<SshKeyRow>(rows);
  }
}

@CommandHandler(ChangeSshKey)
export class SshKeysHandler implements ICommandHandler<ChangeSshKey> {
  constructor(
    private readonly store: EventStore,
    private readonly vault: Vault,
  ) {}

  async execute({ id, command, privateKey, actor }: ChangeSshKey): Promise<SshKeyRow | null> {
    const { rows } = await this.store.handle({
      decider: sshKey,
      load: async () => {
        const row = await findSshKey(this.store.database, actor, 'manage-ssh-keys', id);
        if (privateKey !== null) checkPrivateKey(privateKey);
        return { ...(await this.store.restore(id, sshKey, row.snapshot)), row };
      },
      command: () => command,
      organization: ({ row }) => row.organization,
      holding: ({ row }) => row.held.map(({ stream, version }) => expectVersion(stream, version)),
      context: createEventContext(actor),
      read: ({ row }): readonly Sql[] => [
        selectSshKeyById(id),
        ...(privateKey === null ? [] : [this.vault.seal(id, row.organization, privateKey)]),
      ],
    });
    return getFirstRowOrNull<SshKeyRow>(rows);
  }
}
