import { Module, type DynamicModule } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import type { EventRegistry } from '#platform/kernel';
import { defineAggregate, toProjection, type ModuleDefinition } from '#storage/event-store';
import { auditConfigurations } from './settings/audit-configurations.view.js';
import { createAuditTrailFollower } from './audit-trail.follower.js';
import { trailSettings, trailSettingsEvents } from './settings/audit-trail-settings.js';
import { auditTrailSettings } from './settings/audit-trail-settings.view.js';
import { AuditConfigurationsController } from './settings/audit-configurations.controller.js';
import { AuditTrailActivityController } from './reading/audit-trail-activity.controller.js';
import { AuditTrailController } from './reading/audit-trail.controller.js';
import { OrganizationAuditTrailController } from './reading/organization-audit-trail.controller.js';
import { SiteAuditTrailController } from './reading/site-audit-trail.controller.js';
import { TRAIL_TOPIC_PREFIX, TrailEntryReader } from './reading/trail-entry.reader.js';
import { TrailAnswers } from './reading/trail.answers.js';
import { TrailExporter } from './reading/trail.exporter.js';
import { TrailPageReader } from './reading/trail-pages.reader.js';
import { AuditTrailSettingsController } from './settings/audit-trail-settings.controller.js';
import { LOG_SECRETS_PURPOSE, TRIM_LEAVES, TRIM_LOGS } from './log/trail-logs.queries.js';
import { ENTRY_VISIBILITY, type EntryVisibility } from './writing/trail-entry.js';
import { AuditTrailSettingsHandler } from './settings/audit-trail-settings.handler.js';

/**
 * Settings of audit trails. Their events have audit entries like others, so this module comes before the audit trail
 * itself.
 */
export const auditTrailSettingsDefinition: ModuleDefinition = {
  name: 'audit-trail-settings',
  kinds: trailSettingsEvents,
  aggregates: [defineAggregate('atrail', trailSettings)],
  projections: [toProjection(auditTrailSettings), toProjection(auditConfigurations)],
  followers: [],
  // A migration of the audit trail creates its tables.
  migrations: null,
};

const WITHOUT_LOG = {
  without: 'the keys of people are other ones at the new site, so the organization gets a new log there',
};

/** The module has no events of its own; its follower records the events of the registry. */
export const createAuditTrailDefinition = (registry: EventRegistry): ModuleDefinition => ({
  name: 'audit-trail',
  kinds: {},
  aggregates: [],
  projections: [],
  followers: [createAuditTrailFollower(registry)],
  migrations: new URL('./sql/', import.meta.url),
  tablesOutsideLog: [
    { table: 'audit_trail.walks', backup: 'empty', because: 'it contains the state of readers that read page by page' },
    { table: 'audit_trail.leaves', backup: 'rows', organizationExport: WITHOUT_LOG, trim: TRIM_LEAVES },
    { table: 'audit_trail.logs', backup: 'rows', organizationExport: WITHOUT_LOG, trim: TRIM_LOGS },
  ],
  encryptedColumns: [{ table: 'audit_trail.logs', id: 'organization', column: 'secret', purpose: LOG_SECRETS_PURPOSE }],
});

type AuditTrailOptions = {
  readonly auditClientDetails: boolean;
  /** Null if the server publishes to no Kafka. */
  readonly kafka: { readonly topicPrefix: string } | null;
};

@Module({})
export class AuditTrailModule {
  static with({ auditClientDetails, kafka }: AuditTrailOptions): DynamicModule {
    const visibility: EntryVisibility = { clientDetails: auditClientDetails };
    return {
      module: AuditTrailModule,
      imports: [CqrsModule],
      controllers: [
        AuditTrailActivityController,
        AuditTrailController,
        OrganizationAuditTrailController,
        SiteAuditTrailController,
        AuditTrailSettingsController,
        AuditConfigurationsController,
      ],
      providers: [
        TrailAnswers,
        TrailEntryReader,
        TrailPageReader,
        TrailExporter,
        AuditTrailSettingsHandler,
        { provide: ENTRY_VISIBILITY, useValue: visibility },
        { provide: TRAIL_TOPIC_PREFIX, useValue: kafka?.topicPrefix ?? null },
      ],
    };
  }
}
