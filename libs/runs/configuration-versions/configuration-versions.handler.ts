import type { Readable } from 'node:stream';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Ids } from '#kernel';
import { createEventContext, can, toActingPrincipal, type Actor, type Permission } from '#access';
import { MIB, limitUpload } from '#blob-store';
import { EventStore, getFirstRow, getFirstRowOrNull, raiseConflictWhen, newStream, expectVersion } from '#event-store';
import { configurationVersion, type ConfigurationVersionCommand } from './configuration-version.js';
import { ConfigurationUploads } from './configuration-version.uploads.js';
import {
  loadConfigurationForCommand,
  selectConfigurationVersionById,
  isConfigurationArchiveInUse,
  loadWorkspaceForNewConfiguration,
  type ConfigurationForCommand,
  type ConfigurationVersionRow,
} from './configuration-versions.queries.js';

/** Most that an archive may be. It is only passed on, so this guards the disk and nothing else. */
const UPLOAD_LIMIT = 512 * MIB;

export type NewConfigurationVersion = {
  readonly workspace: string;
  readonly autoQueueRuns: boolean;
  readonly speculative: boolean;
  readonly provisional: boolean;
};

export class CreateConfigurationVersion extends Command<ConfigurationVersionRow> {
  constructor(
    readonly input: NewConfigurationVersion,
    readonly actor: Actor,
  ) {
    super();
  }
}

export type ConfigurationCommandInput = Exclude<
  ConfigurationVersionCommand['type'],
  'CreateConfigurationVersion' | 'UploadConfiguration' | 'FailConfiguration'
>;

/** A command for one configuration version; resolves to how it stands then, null when it is gone. */
export class ChangeConfigurationVersion extends Command<ConfigurationVersionRow | null> {
  constructor(
    readonly id: string,
    readonly wish: ConfigurationCommandInput,
    readonly actor: Actor,
  ) {
    super();
  }
}

/** What comes by a signed link. */
export class ReceiveConfiguration extends Command<void> {
  constructor(
    readonly id: string,
    readonly content: Readable,
  ) {
    super();
  }
}

const PERMISSION = {
  ArchiveConfiguration: 'create-configuration-version',
  SoftDeleteConfiguration: 'delete-configuration-data',
  RestoreConfiguration: 'delete-configuration-data',
  DeleteConfigurationPermanently: 'delete-configuration-data',
} as const satisfies Record<ConfigurationCommandInput, Permission>;

@CommandHandler(CreateConfigurationVersion)
export class CreateConfigurationVersionHandler implements ICommandHandler<CreateConfigurationVersion> {
  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
  ) {}

  async execute({ input, actor }: CreateConfigurationVersion): Promise<ConfigurationVersionRow> {
    const id = this.ids.next('cv');
    const { rows } = await this.store.handle({
      decider: configurationVersion,
      load: async () => ({
        ...newStream(id, configurationVersion),
        place: await loadWorkspaceForNewConfiguration(this.store.database, actor, input.workspace),
      }),
      command: ({ place }): ConfigurationVersionCommand => ({
        type: 'CreateConfigurationVersion',
        data: {
          ...input,
          source: 'tfe-api',
          createdBy: toActingPrincipal(actor),
          mayApply: can(actor, 'apply-run', place),
        },
      }),
      organization: ({ place }) => place.organization,
      preconditions: ({ place }) => [
        expectVersion(place.organization, place.organizationVersion),
        expectVersion(input.workspace, place.workspaceVersion),
      ],
      context: createEventContext(actor),
      read: () => [selectConfigurationVersionById(id, actor)],
    });
    return getFirstRow<ConfigurationVersionRow>(rows);
  }
}

@CommandHandler(ChangeConfigurationVersion)
export class ConfigurationVersionsHandler implements ICommandHandler<ChangeConfigurationVersion> {
  constructor(private readonly store: EventStore) {}

  async execute({ id, wish, actor }: ChangeConfigurationVersion): Promise<ConfigurationVersionRow | null> {
    const { rows } = await this.store.handle({
      decider: configurationVersion,
      load: async () => {
        const found = await loadConfigurationForCommand(this.store.database, actor, PERMISSION[wish], id);
        return { ...(await this.store.restore(id, configurationVersion, found.snapshot)), found };
      },
      command: ({ found }) => toConfigurationCommand(wish, found),
      organization: ({ found }) => found.organization,
      context: createEventContext(actor),
      read: () => [
        selectConfigurationVersionById(id, actor),
        ...(removesArchive(wish) ? [raiseConflictWhen(isConfigurationArchiveInUse(id))] : []),
      ],
    });
    return getFirstRowOrNull<ConfigurationVersionRow>(rows);
  }
}

/** Then a run must not have begun with it in between. */
const removesArchive = (wish: ConfigurationCommandInput): boolean =>
  wish === 'ArchiveConfiguration' || wish === 'SoftDeleteConfiguration';

const toConfigurationCommand = (
  wish: ConfigurationCommandInput,
  { isInUse, isCurrent }: ConfigurationForCommand,
): ConfigurationVersionCommand => {
  switch (wish) {
    case 'ArchiveConfiguration':
    case 'SoftDeleteConfiguration':
      return { type: wish, data: { isInUse, isCurrent } };
    case 'RestoreConfiguration':
    case 'DeleteConfigurationPermanently':
      return { type: wish, data: {} };
  }
};

@CommandHandler(ReceiveConfiguration)
export class ReceiveConfigurationHandler implements ICommandHandler<ReceiveConfiguration> {
  constructor(private readonly uploads: ConfigurationUploads) {}

  async execute({ id, content }: ReceiveConfiguration): Promise<void> {
    try {
      await this.uploads.receive(id, limitUpload(content, UPLOAD_LIMIT));
    } finally {
      // Whatever was not read: the next request on this connection comes after it.
      content.resume();
    }
  }
}
