import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { EventStore, firstRow, unborn, unchanged } from '#event-store';
import { contextOf, type Actor } from '#access';
import { trailSettings } from './audit-trail-settings.js';
import { trailSettingsForCommand, trailSettingsOf, type TrailSettingsRow } from './audit-trail-settings.queries.js';

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

@CommandHandler(ChangeTrailSettings)
export class ChangeTrailSettingsHandler implements ICommandHandler<ChangeTrailSettings> {
  constructor(private readonly store: EventStore) {}

  async execute({ organization: name, retentionDays, actor }: ChangeTrailSettings): Promise<TrailSettingsRow> {
    const { rows } = await this.store.handle({
      decider: trailSettings,
      load: async () => {
        const found = await trailSettingsForCommand(this.store.database, actor, name);
        const { stream, snapshot } = found;
        const settings = snapshot
          ? await this.store.restore(stream, trailSettings, snapshot)
          : unborn(stream, trailSettings);
        return { ...settings, found };
      },
      command: ({ state }) =>
        ({
          type: 'ChangeAuditTrailRetention',
          data: { retentionDays: retentionDays === undefined ? state.retentionDays : retentionDays },
        }) as const,
      organization: ({ found }) => found.organization,
      holding: ({ found }) => found.held.map(({ stream, version }) => unchanged(stream, version)),
      context: contextOf(actor),
      read: ({ found }) => [trailSettingsOf(found.organization)],
    });
    return firstRow<TrailSettingsRow>(rows);
  }
}
