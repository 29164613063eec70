import { Module, type DynamicModule } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { AuditConfigurationsController } from './configuration/audit-configurations.controller.js';
import { AuditTrailController } from './reading/audit-trail.controller.js';
import { TrailExporter } from './reading/trail.exporter.js';
import { TrailPageReader } from './reading/trail-pages.reader.js';
import { AuditTrailSettingsController } from './settings/audit-trail-settings.controller.js';
import { ENTRY_VISIBILITY, type EntryVisibility } from './writing/trail-entry.js';
import { AuditTrailSettingsHandler } from './settings/audit-trail-settings.handler.js';

@Module({})
export class AuditTrailModule {
  static with({ auditClientDetails }: { readonly auditClientDetails: boolean }): DynamicModule {
    const visibility: EntryVisibility = { clientDetails: auditClientDetails };
    return {
      module: AuditTrailModule,
      imports: [CqrsModule],
      controllers: [AuditTrailController, AuditTrailSettingsController, AuditConfigurationsController],
      providers: [
        TrailPageReader,
        TrailExporter,
        AuditTrailSettingsHandler,
        { provide: ENTRY_VISIBILITY, useValue: visibility },
      ],
    };
  }
}
