import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { conflict, unavailable } from '#kernel';
import { EventStore, getFirstRow } from '#event-store';
import type { Actor } from '#access';
import { selectAuditConfiguration, hasTestEntry, type AuditConfigurationRow } from './audit-configurations.queries.js';
import { executeTrailSettingsCommand } from '../settings/audit-trail-settings.handler.js';
import { waitForTrail } from '../reading/trail-ranges.reader.js';
import { hasTrail } from '../settings/audit-trail.entitlement.js';

/** Switches the recording of entries on or off; `enabled` undefined leaves it as it is. */
export class SwitchAuditTrail extends Command<AuditConfigurationRow> {
  constructor(
    readonly organization: string,
    readonly enabled: boolean | undefined,
    readonly actor: Actor,
  ) {
    super();
  }
}

/** Records an entry and reads it back. Its result is the id of the request, which the entry has as well. */
export class TestAuditTrail extends Command<string> {
  constructor(
    readonly organization: string,
    readonly actor: Actor,
  ) {
    super();
  }
}

@CommandHandler(SwitchAuditTrail)
export class SwitchAuditTrailHandler implements ICommandHandler<SwitchAuditTrail> {
  constructor(private readonly store: EventStore) {}

  async execute({ organization, enabled, actor }: SwitchAuditTrail): Promise<AuditConfigurationRow> {
    const { rows } = await executeTrailSettingsCommand(this.store, {
      organization,
      actor,
      command: ({ state }) => ({ type: 'SwitchAuditTrail', data: { enabled: enabled ?? state.enabled } }),
      read: selectAuditConfiguration,
    });
    return getFirstRow<AuditConfigurationRow>(rows);
  }
}

@CommandHandler(TestAuditTrail)
export class TestAuditTrailHandler implements ICommandHandler<TestAuditTrail> {
  constructor(private readonly store: EventStore) {}

  async execute({ organization, actor }: TestAuditTrail): Promise<string> {
    const { loaded } = await executeTrailSettingsCommand(this.store, {
      organization,
      actor,
      command: ({ found }) => {
        if (!hasTrail(found.featureSet)) throw conflict('The organization is not entitled to an audit trail');
        return { type: 'TestAuditTrail', data: {} };
      },
      read: selectAuditConfiguration,
    });
    const id = loaded.found.organization;
    await waitForTrail(this.store, id);
    const request = actor.request.id ?? '';
    const isRecorded = await hasTestEntry(this.store.database, id, request);
    if (!isRecorded) throw unavailable('The audit trail did not record the test. Please try again.', 5);
    return request;
  }
}
