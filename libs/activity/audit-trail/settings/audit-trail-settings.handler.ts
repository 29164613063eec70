import { CommandHandler } from '@nestjs/cqrs';
import { conflict, unavailable, type Sql } from '#platform/kernel';
import {
  AggregateHandler,
  EventStore,
  expectVersion,
  getFirstRow,
  newStream,
  type LoadedStream,
  type OperationTable,
} from '#storage/event-store';
import type { DatabaseRow } from '#platform/postgres';
import { createEventContext, type Actor } from '#api/access';
import { hasTestEntry, selectAuditConfiguration, type AuditConfigurationRow } from './audit-configurations.queries.js';
import { waitForTrail } from '../wait-for-trail.queries.js';
import { hasTrail } from './audit-trail.entitlement.js';
import { trailSettings, type TrailSettingsState, type TrailSettingsCommand } from './audit-trail-settings.js';
import { ChangeTrailSettings, type TrailSettingsOperations } from './audit-trail-settings.commands.js';
import {
  loadTrailSettingsForCommand,
  selectTrailSettings,
  type TrailSettingsForCommand,
  type TrailSettingsRow,
} from './audit-trail-settings.queries.js';

type LoadedTrailSettings = LoadedStream<TrailSettingsState> & { readonly settings: TrailSettingsForCommand };

type TrailSettingsTask = {
  /** The name of the organization. */
  readonly organization: string;
  readonly actor: Actor;
  readonly command: (loaded: LoadedTrailSettings) => TrailSettingsCommand;
  /** Selects the row of the response, for the organization with this id. */
  readonly read: (organization: string) => Sql;
};

@CommandHandler(ChangeTrailSettings)
export class AuditTrailSettingsHandler extends AggregateHandler<TrailSettingsOperations> {
  protected readonly operations: OperationTable<TrailSettingsOperations> = {
    ChangeAuditTrailRetention: (input) => this.changeRetention(input),
    SwitchAuditTrail: (input) => this.switch(input),
    TestAuditTrail: (input) => this.test(input),
  };

  constructor(private readonly store: EventStore) {
    super();
  }

  private async changeRetention(
    input: TrailSettingsOperations['ChangeAuditTrailRetention']['input'],
  ): Promise<TrailSettingsRow> {
    const { organization, retentionDays, actor } = input;
    const { rows } = await this.append({
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

  private async switch(input: TrailSettingsOperations['SwitchAuditTrail']['input']): Promise<AuditConfigurationRow> {
    const { organization, enabled, actor } = input;
    const { rows } = await this.append({
      organization,
      actor,
      command: ({ state }) => ({ type: 'SwitchAuditTrail', data: { enabled: enabled ?? state.enabled } }),
      read: selectAuditConfiguration,
    });
    return getFirstRow<AuditConfigurationRow>(rows);
  }

  private async test({ organization, actor }: TrailSettingsOperations['TestAuditTrail']['input']): Promise<string> {
    const { loaded } = await this.append({
      organization,
      actor,
      command: ({ settings }) => {
        if (!hasTrail(settings.featureSet)) throw conflict('The organization is not entitled to an audit trail');
        return { type: 'TestAuditTrail', data: {} };
      },
      read: selectAuditConfiguration,
    });
    const id = loaded.settings.organization;
    await waitForTrail(this.store, id);
    const request = actor.request.id ?? '';
    const isRecorded = await hasTestEntry(this.store.database, id, request);
    if (!isRecorded) throw unavailable('The audit trail did not record the test. Please try again.', 5);
    return request;
  }

  private append({
    organization,
    actor,
    command,
    read,
  }: TrailSettingsTask): Promise<{ readonly loaded: LoadedTrailSettings; readonly rows: readonly DatabaseRow[][] }> {
    const { store } = this;
    return store.handle({
      decider: trailSettings,
      load: async (): Promise<LoadedTrailSettings> => {
        const settings = await loadTrailSettingsForCommand(store.database, actor, organization);
        const { stream, snapshot } = settings;
        const loaded = snapshot
          ? await store.restore(stream, trailSettings, snapshot)
          : newStream(stream, trailSettings);
        return { ...loaded, settings };
      },
      command,
      organization: ({ settings }) => settings.organization,
      preconditions: ({ settings }) =>
        settings.preconditions.map(({ stream, version }) => expectVersion(stream, version)),
      context: createEventContext(actor),
      read: ({ settings }) => [read(settings.organization)],
    });
  }
}
