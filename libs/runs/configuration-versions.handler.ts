import type { Readable } from 'node:stream';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Ids } from '#kernel';
import { contextOf, may, personOf, type Actor, type Permission } from '#access';
import { MIB, received } from '#blob-store';
import { EventStore, firstRow, firstRowOrNull, staleWhen, unborn, unchanged } from '#event-store';
import { configurationVersion, type ConfigurationVersionCommand } from './configuration-version.js';
import { ConfigurationUploads } from './configuration-version.uploads.js';
import {
  configurationForCommand,
  configurationVersionById,
  isInUse,
  placeForConfiguration,
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

export type ConfigurationWish = Exclude<
  ConfigurationVersionCommand['type'],
  'CreateConfigurationVersion' | 'UploadConfiguration' | 'FailConfiguration'
>;

/** A command for one configuration version; resolves to how it stands then, null when it is gone. */
export class ToConfigurationVersion extends Command<ConfigurationVersionRow | null> {
  constructor(
    readonly id: string,
    readonly wish: ConfigurationWish,
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
} as const satisfies Record<ConfigurationWish, Permission>;

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
        ...unborn(id, configurationVersion),
        place: await placeForConfiguration(this.store.database, actor, input.workspace),
      }),
      command: ({ place }): ConfigurationVersionCommand => ({
        type: 'CreateConfigurationVersion',
        data: { ...input, source: 'tfe-api', createdBy: personOf(actor), mayApply: may(actor, 'apply-run', place) },
      }),
      organization: ({ place }) => place.organization,
      holding: ({ place }) => [
        unchanged(place.organization, place.organizationVersion),
        unchanged(input.workspace, place.workspaceVersion),
      ],
      context: contextOf(actor),
      read: () => [configurationVersionById(id, actor)],
    });
    return firstRow<ConfigurationVersionRow>(rows);
  }
}

@CommandHandler(ToConfigurationVersion)
export class ConfigurationVersionsHandler implements ICommandHandler<ToConfigurationVersion> {
  constructor(private readonly store: EventStore) {}

  async execute({ id, wish, actor }: ToConfigurationVersion): Promise<ConfigurationVersionRow | null> {
    const { rows } = await this.store.handle({
      decider: configurationVersion,
      load: async () => {
        const found = await configurationForCommand(this.store.database, actor, PERMISSION[wish], id);
        return { ...(await this.store.restore(id, configurationVersion, found.snapshot)), found };
      },
      command: ({ found }) => commandOf(wish, found),
      organization: ({ found }) => found.organization,
      context: contextOf(actor),
      read: () => [configurationVersionById(id, actor), ...(takesAway(wish) ? [staleWhen(isInUse(id))] : [])],
    });
    return firstRowOrNull<ConfigurationVersionRow>(rows);
  }
}

/** Then a run must not have begun with it in between. */
const takesAway = (wish: ConfigurationWish): boolean =>
  wish === 'ArchiveConfiguration' || wish === 'SoftDeleteConfiguration';

const commandOf = (
  wish: ConfigurationWish,
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
      await this.uploads.receive(id, received(content, UPLOAD_LIMIT));
    } finally {
      // Whatever was not read: the next request on this connection comes after it.
      content.resume();
    }
  }
}
