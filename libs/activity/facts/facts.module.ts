import { Module, type DynamicModule } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import type { Settings } from '#platform/settings';
import { AuditFactsController } from './facts/audit-facts.controller.js';
import { AuditFactSourcesController } from './sources/audit-fact-sources.controller.js';
import { AuditFactSourcesHandler } from './sources/audit-fact-sources.handler.js';
import { FACTS_LIMIT, LimitedFactsRecorder } from './facts/limited-facts.recorder.js';

@Module({})
export class FactsModule {
  static with({ factsLimit }: Pick<Settings, 'factsLimit'>): DynamicModule {
    return {
      module: FactsModule,
      imports: [CqrsModule],
      controllers: [AuditFactsController, AuditFactSourcesController],
      providers: [LimitedFactsRecorder, AuditFactSourcesHandler, { provide: FACTS_LIMIT, useValue: factsLimit }],
    };
  }
}
