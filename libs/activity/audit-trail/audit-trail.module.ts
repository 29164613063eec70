import { Module, type DynamicModule } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { AuditConfigurationsController } from './settings/audit-configurations.controller.js';
import { AuditTrailController } from './reading/audit-trail.controller.js';
import { OrganizationAuditTrailController } from './reading/organization-audit-trail.controller.js';
import { SiteAuditTrailController } from './reading/site-audit-trail.controller.js';
import { TRAIL_TOPIC_PREFIX, TrailEntryReader } from './reading/trail-entry.reader.js';
import { TrailAnswers } from './reading/trail.answers.js';
import { TrailExporter } from './reading/trail.exporter.js';
import { TrailPageReader } from './reading/trail-pages.reader.js';
import { AuditTrailSettingsController } from './settings/audit-trail-settings.controller.js';
import { ENTRY_VISIBILITY, type EntryVisibility } from './writing/trail-entry.js';
import { AuditTrailSettingsHandler } from './settings/audit-trail-settings.handler.js';

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
