import type { Readable } from 'node:stream';
import { CommandHandler } from '@nestjs/cqrs';
import { Ids } from '#platform/kernel';
import { type Actor, can, toActingPrincipal, type Permission, createResource, changeResource } from '#api/access';
import {
  AggregateCommand,
  type Operation,
  AggregateHandler,
  EventStore,
  getFirstRow,
  getFirstRowOrNull,
  raiseConflictWhen,
  type OperationTable,
} from '#storage/event-store';
import { limitUpload, MIB } from '#storage/blob-store';
import {
  type ConfigurationVersionRow,
  isConfigurationInUse,
  loadConfigurationForCommand,
  loadWorkspaceForNewConfiguration,
  selectConfigurationVersionById,
  type ConfigurationForCommand,
} from './configuration-versions.queries.js';
import { configurationVersion, type ConfigurationVersionCommand } from './configuration-version.js';
import { ConfigurationUploads } from './configuration-version.uploads.js';

type NewConfigurationVersion = {
  readonly workspace: string;
  readonly autoQueueRuns: boolean;
  readonly speculative: boolean;
  readonly provisional: boolean;
};

/** A change of one existing configuration version. Resolves to null if the version has been deleted meanwhile. */
type ConfigurationChange = Operation<{ id: string; actor: Actor }, ConfigurationVersionRow | null>;

type ConfigurationVersionOperations = {
  CreateConfigurationVersion: Operation<{ newVersion: NewConfigurationVersion; actor: Actor }, ConfigurationVersionRow>;
  ArchiveConfiguration: ConfigurationChange;
  SoftDeleteConfiguration: ConfigurationChange;
  RestoreConfiguration: ConfigurationChange;
  DeleteConfigurationPermanently: ConfigurationChange;
  /** Receives an archive for which a signed link was issued. `address`: the address of the client. */
  ReceiveConfiguration: Operation<{ id: string; content: Readable; address: string | null }, void>;
};

export class ChangeConfigurationVersion<T extends keyof ConfigurationVersionOperations> extends AggregateCommand<
  ConfigurationVersionOperations,
  T
> {}

/** The server only passes archives on, so this limit protects the disk and nothing else. */
const UPLOAD_LIMIT = 512 * MIB;

/** A change of one existing configuration version. */
type ConfigurationTask = {
  readonly permission: Permission;
  readonly command: (row: ConfigurationForCommand) => ConfigurationVersionCommand;
  /** Whether the archive is removed. The append then fails if a run starts to use the archive meanwhile. */
  readonly removesArchive: boolean;
};

@CommandHandler(ChangeConfigurationVersion)
export class ConfigurationVersionsHandler extends AggregateHandler<ConfigurationVersionOperations> {
  protected readonly operations: OperationTable<ConfigurationVersionOperations> = {
    CreateConfigurationVersion: (input) => this.create(input),
    ArchiveConfiguration: (target) =>
      this.append(target, {
        permission: 'create-configuration-version',
        command: ({ isInUse, isCurrent }) => ({ type: 'ArchiveConfiguration', data: { isInUse, isCurrent } }),
        removesArchive: true,
      }),
    SoftDeleteConfiguration: (target) =>
      this.append(target, {
        permission: 'delete-configuration-data',
        command: ({ isInUse, isCurrent }) => ({ type: 'SoftDeleteConfiguration', data: { isInUse, isCurrent } }),
        removesArchive: true,
      }),
    RestoreConfiguration: (target) =>
      this.append(target, {
        permission: 'delete-configuration-data',
        command: () => ({ type: 'RestoreConfiguration', data: {} }),
        removesArchive: false,
      }),
    DeleteConfigurationPermanently: (target) =>
      this.append(target, {
        permission: 'delete-configuration-data',
        command: () => ({ type: 'DeleteConfigurationPermanently', data: {} }),
        removesArchive: false,
      }),
    ReceiveConfiguration: (input) => this.receive(input),
  };

  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
    private readonly uploads: ConfigurationUploads,
  ) {
    super();
  }

  private async create(
    input: ConfigurationVersionOperations['CreateConfigurationVersion']['input'],
  ): Promise<ConfigurationVersionRow> {
    const { newVersion, actor } = input;
    const id = this.ids.next('cv');
    const rows = await createResource(this.store, configurationVersion, {
      id,
      actor,
      load: () => loadWorkspaceForNewConfiguration(this.store.database, actor, newVersion.workspace),
      command: (workspace) => ({
        type: 'CreateConfigurationVersion',
        data: {
          ...newVersion,
          source: 'tfe-api',
          ingress: null,
          createdBy: toActingPrincipal(actor),
          mayApply: can(actor, 'apply-run', workspace),
        },
      }),
      read: () => [selectConfigurationVersionById(id, actor)],
    });
    return getFirstRow<ConfigurationVersionRow>(rows);
  }

  private async append(
    { id, actor }: { readonly id: string; readonly actor: Actor },
    { permission, command, removesArchive }: ConfigurationTask,
  ): Promise<ConfigurationVersionRow | null> {
    const rows = await changeResource(this.store, configurationVersion, {
      actor,
      load: () => loadConfigurationForCommand(this.store.database, actor, permission, id),
      command,
      read: () => [
        selectConfigurationVersionById(id, actor),
        ...(removesArchive ? [raiseConflictWhen(isConfigurationInUse(id))] : []),
      ],
    });
    return getFirstRowOrNull<ConfigurationVersionRow>(rows);
  }

  private async receive({
    id,
    content,
    address,
  }: ConfigurationVersionOperations['ReceiveConfiguration']['input']): Promise<void> {
    try {
      await this.uploads.receive(id, limitUpload(content, UPLOAD_LIMIT), address);
    } finally {
      // Discards unread bytes, because the next request on this connection follows them.
      content.resume();
    }
  }
}
