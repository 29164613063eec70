import { CommandHandler } from '@nestjs/cqrs';
import { conflict, unavailable, type Sql } from '#platform/kernel';
import type { DatabaseRow } from '#platform/postgres';
import { type Actor, changeResource } from '#api/access';
import {
  AggregateCommand,
  type Operation,
  AggregateHandler,
  EventStore,
  getFirstRow,
  type OperationTable,
} from '#storage/event-store';
import { waitForTrail } from '../wait-for-trail.queries.js';
import { type AuditConfigurationRow, hasTestEntry, selectAuditConfiguration } from './audit-configurations.view.js';
import {
  type TrailSettingsRow,
  loadTrailSettingsForCommand,
  selectTrailSettings,
  type TrailSettingsForCommand,
} from './audit-trail-settings.view.js';
import { hasTrail } from './audit-trail.entitlement.js';
import { trailSettings, type TrailSettingsState, type TrailSettingsCommand } from './audit-trail-settings.js';

/** `organization` is the name of the organization. A setting that is undefined keeps its value. */
type TrailSettingsOperations = {
  /** `retentionDays`: null keeps entries forever. */
  ChangeAuditTrailRetention: Operation<
    { organization: string; retentionDays: number | null | undefined; actor: Actor },
    TrailSettingsRow
  >;
  SwitchAuditTrail: Operation<
    { organization: string; enabled: boolean | undefined; actor: Actor },
    AuditConfigurationRow
  >;
  /** Records an entry and reads it back. Resolves to the request id, which the entry contains. */
  TestAuditTrail: Operation<{ organization: string; actor: Actor }, string>;
};

export class ChangeTrailSettings<T extends keyof TrailSettingsOperations> extends AggregateCommand<
  TrailSettingsOperations,
  T
> {}

type TrailSettingsTask = {
  /** The name of the organization. */
  readonly organization: string;
  readonly actor: Actor;
  readonly command: (row: TrailSettingsForCommand, state: TrailSettingsState) => TrailSettingsCommand;
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
    const rows = await this.change({
      organization,
      actor,
      command: (_, state) => ({
        type: 'ChangeAuditTrailRetention',
        data: { retentionDays: retentionDays === undefined ? state.retentionDays : retentionDays },
      }),
      read: selectTrailSettings,
    });
    return getFirstRow<TrailSettingsRow>(rows);
  }

  private async switch(input: TrailSettingsOperations['SwitchAuditTrail']['input']): Promise<AuditConfigurationRow> {
    const { organization, enabled, actor } = input;
    const rows = await this.change({
      organization,
      actor,
      command: (_, state) => ({ type: 'SwitchAuditTrail', data: { enabled: enabled ?? state.enabled } }),
      read: selectAuditConfiguration,
    });
    return getFirstRow<AuditConfigurationRow>(rows);
  }

  private async test({ organization, actor }: TrailSettingsOperations['TestAuditTrail']['input']): Promise<string> {
    const rows = await this.change({
      organization,
      actor,
      command: ({ featureSet }) => {
        if (!hasTrail(featureSet)) throw conflict('The organization is not entitled to an audit trail');
        return { type: 'TestAuditTrail', data: {} };
      },
      read: selectAuditConfiguration,
    });
    const { organization: id } = getFirstRow<AuditConfigurationRow>(rows);
    await waitForTrail(this.store, id);
    const request = actor.request.id ?? '';
    const isRecorded = await hasTestEntry(this.store.database, id, request);
    if (!isRecorded) throw unavailable('The audit trail did not record the test. Please try again.', 5);
    return request;
  }

  private change({ organization, actor, command, read }: TrailSettingsTask): Promise<readonly DatabaseRow[][]> {
    return changeResource(this.store, trailSettings, {
      actor,
      load: () => loadTrailSettingsForCommand(this.store.database, actor, organization),
      command,
      read: (row) => [read(row.organization)],
    });
  }
}
