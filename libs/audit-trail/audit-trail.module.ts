import { Module, type DynamicModule } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { AuditTrailController, SHOWING } from './audit-trail.controller.js';
import { Exports } from './audit-trail.exports.js';
import { AuditTrailSettingsController } from './audit-trail-settings.controller.js';
import type { Showing } from './entry.js';
import { ChangeTrailSettingsHandler } from './trail-settings.handler.js';

@Module({})
export class AuditTrailModule {
  static with({ auditClientDetails }: { readonly auditClientDetails: boolean }): DynamicModule {
    const showing: Showing = { clientDetails: auditClientDetails };
    return {
      module: AuditTrailModule,
      imports: [CqrsModule],
      controllers: [AuditTrailController, AuditTrailSettingsController],
      providers: [Exports, ChangeTrailSettingsHandler, { provide: SHOWING, useValue: showing }],
    };
  }
}
