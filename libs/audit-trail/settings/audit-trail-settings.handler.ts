import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Sql } from '#kernel';
import { EventStore, getFirstRow, newStream, expectVersion, type LoadedStream } from '#event-store';
import type { DatabaseRow } from '#postgres';
import { createEventContext, type Actor } from '#access';
import { trailSettings, type TrailSettingsState, type TrailSettingsCommand } from './audit-trail-settings.js';
import {
  loadTrailSettingsForCommand,
  selectTrailSettings,
  type TrailSettingsForCommand,
  type TrailSettingsRow,
} from './audit-trail-settings.queries.js';

/** `retentionDays` undefined: as it is; null: for ever. */
export class ChangeTrailSettings extends Command<TrailSettingsRow> {
  constructor(
    readonly organization: string,
    readonly retentionDays: number | null | undefined,
    readonly actor: Actor,
  ) {
    super();
  }
}

export type LoadedTrailSettings = LoadedStream<TrailSettingsState> & { readonly found: TrailSettingsForCommand };

/** Handles a command to the settings of an organization's trail, for its owners. */
export const executeTrailSettingsCommand = (
  store: EventStore,
  asked: {
    /** Its name. */
    readonly organization: string;
    readonly actor: Actor;
    readonly command: (loaded: LoadedTrailSettings) => TrailSettingsCommand;
    /** The settings that are read after the append, for the organization with this id. */
    readonly read: (organization: string) => Sql;
  },
): Promise<{ readonly loaded: LoadedTrailSettings; readonly rows: readonly DatabaseRow[][] }> =>
  store.handle({
    decider: trailSettings,
    load: async (): Promise<LoadedTrailSettings> => {
      const found = await loadTrailSettingsForCommand(store.database, asked.actor, asked.organization);
      const { stream, snapshot } = found;
      const settings = snapshot
        ? await store.restore(stream, trailSettings, snapshot)
        : newStream(stream, trailSettings);
      return { ...settings, found };
    },
    command: asked.command,
    organization: ({ found }) => found.organization,
    holding: ({ found }) => found.held.map(({ stream, version }) => expectVersion(stream, version)),
    context: createEventContext(asked.actor),
    read: ({ found }) => [asked.read(found.organization)],
  });

@CommandHandler(ChangeTrailSettings)
export class ChangeTrailSettingsHandler implements ICommandHandler<ChangeTrailSettings> {
  constructor(private readonly store: EventStore) {}

  async execute({ organization, retentionDays, actor }: ChangeTrailSettings): Promise<TrailSettingsRow> {
    const { rows } = await executeTrailSettingsCommand(this.store, {
      organization,
      actor,
      command: ({ state }) => ({
        type: 'ChangeAuditTrailRetention',
        data: { retentionDays: retentionDays === undefined ? state.retentionDays : retentionDays },
      }),
      read: selectTrailSettings,
    });
    return getFirstRow<TrailSettingsRow>(rows);
  }
}
