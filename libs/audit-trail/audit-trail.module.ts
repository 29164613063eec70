import { Module, type DynamicModule } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { AuditConfigurationsController } from './audit-configurations.controller.js';
import { SwitchAuditTrailHandler, TestAuditTrailHandler } from './audit-configurations.handler.js';
import { AuditTrailController } from './audit-trail.controller.js';
import { TrailExporter } from './audit-trail.exports.js';
import { TrailPageReader } from './audit-trail.pages.js';
import { AuditTrailSettingsController } from './audit-trail-settings.controller.js';
import { ENTRY_VISIBILITY, type EntryVisibility } from './entry.js';
import { ChangeTrailSettingsHandler } from './audit-trail-settings.handler.js';

@Module({})
export class AuditTrailModule {
  static with({ auditClientDetails }: { readonly auditClientDetails: boolean }): DynamicModule {
    const showing: EntryVisibility = { clientDetails: auditClientDetails };
    return {
      module: AuditTrailModule,
      imports: [CqrsModule],
      controllers: [AuditTrailController, AuditTrailSettingsController, AuditConfigurationsController],
      providers: [
        TrailPageReader,
        TrailExporter,
        ChangeTrailSettingsHandler,
        SwitchAuditTrailHandler,
        TestAuditTrailHandler,
        { provide: ENTRY_VISIBILITY, useValue: showing },
      ],
    };
  }
}
