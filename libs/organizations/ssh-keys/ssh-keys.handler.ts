import { CommandHandler } from '@nestjs/cqrs';
import { Ids } from '#platform/kernel';
import {
  AggregateCommand,
  AggregateHandler,
  EventStore,
  getFirstRow,
  getFirstRowOrNull,
  type Operation,
  type OperationTable,
} from '#storage/event-store';
import { loadParentOrganization, type Actor, createResource, changeResource } from '#api/access';
import { Vault } from '#storage/vault';
import { checkPrivateKey, sshKey, type SshKeyCommand } from './ssh-key.js';
import { findSshKey, selectSshKeyById, type SshKeyRow } from './ssh-keys.view.js';

type SshKeyOperations = {
  CreateSshKey: Operation<{ organization: string; name: string; privateKey: string; actor: Actor }, SshKeyRow>;
  /** An attribute that is undefined keeps its value. Resolves to null if the key has been deleted meanwhile. */
  UpdateSshKey: Operation<
    {
      id: string;
      name: string | undefined;
      privateKey: string | undefined;
      actor: Actor;
    },
    SshKeyRow | null
  >;
  DeleteSshKey: Operation<{ id: string; actor: Actor }, void>;
};

export class ChangeSshKey<T extends keyof SshKeyOperations> extends AggregateCommand<SshKeyOperations, T> {}

type SshKeyUpdateOrDelete = Extract<SshKeyCommand, { type: 'UpdateSshKey' | 'DeleteSshKey' }>;

@CommandHandler(ChangeSshKey)
export class SshKeysHandler extends AggregateHandler<SshKeyOperations> {
  protected readonly operations: OperationTable<SshKeyOperations> = {
    CreateSshKey: (input) => this.create(input),
    UpdateSshKey: ({ id, name, privateKey, actor }) => {
      const command = { type: 'UpdateSshKey', data: { name, replaced: privateKey !== undefined } } as const;
      return this.updateOrDelete(id, command, privateKey, actor);
    },
    DeleteSshKey: async ({ id, actor }) => {
      await this.updateOrDelete(id, { type: 'DeleteSshKey', data: {} }, undefined, actor);
    },
  };

  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
    private readonly vault: Vault,
  ) {
    super();
  }

  private async create(input: SshKeyOperations['CreateSshKey']['input']): Promise<SshKeyRow> {
    const { organization, name, privateKey, actor } = input;
    const id = this.ids.next('sshkey');
    const rows = await createResource(this.store, sshKey, {
      id,
      actor,
      load: async () => {
        const parent = await loadParentOrganization(this.store.database, actor, 'manage-ssh-keys', organization);
        checkPrivateKey(privateKey);
        return parent;
      },
      command: { type: 'CreateSshKey', data: { name } },
      read: (parent) => [selectSshKeyById(id), this.vault.storeSecret(id, parent.organization, privateKey)],
    });
    return getFirstRow<SshKeyRow>(rows);
  }

  /** If there is a new private key, the vault stores it in the transaction of the events. */
  private async updateOrDelete(
    id: string,
    command: SshKeyUpdateOrDelete,
    privateKey: string | undefined,
    actor: Actor,
  ): Promise<SshKeyRow | null> {
    const rows = await changeResource(this.store, sshKey, {
      actor,
      load: async () => {
        const row = await findSshKey(this.store.database, actor, 'manage-ssh-keys', id);
        if (privateKey !== undefined) checkPrivateKey(privateKey);
        return row;
      },
      command,
      read: ({ organization }) => [
        selectSshKeyById(id),
        ...(privateKey === undefined ? [] : [this.vault.storeSecret(id, organization, privateKey)]),
      ],
    });
    return getFirstRowOrNull<SshKeyRow>(rows);
  }
}
