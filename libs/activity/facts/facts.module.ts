import { Module, type DynamicModule } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import type { Settings } from '#platform/settings';
import { defineAggregate, toProjection, type ModuleDefinition } from '#storage/event-store';
import { auditFactSource, auditFactSourceEvents } from './sources/audit-fact-source.js';
import { auditFactSources } from './sources/audit-fact-sources.view.js';
import { factEvents } from './facts/facts.events.js';
import { AuditFactsController } from './facts/audit-facts.controller.js';
import { AuditFactSourcesController } from './sources/audit-fact-sources.controller.js';
import { AuditFactSourcesHandler } from './sources/audit-fact-sources.handler.js';
import { FACTS_LIMIT, LimitedFactsRecorder } from './facts/limited-facts.recorder.js';

/**
 * Facts have no view of their own, because the log and the audit trail contain them. Only their registered sources have
 * a view.
 */
export const factsDefinition: ModuleDefinition = {
  name: 'facts',
  kinds: { ...factEvents, ...auditFactSourceEvents },
  aggregates: [defineAggregate('afs', auditFactSource)],
  projections: [toProjection(auditFactSources)],
  followers: [],
  migrations: new URL('./sql/', import.meta.url),
  tablesOutsideLog: [
    { table: 'facts.reported', backup: 'empty', because: 'it counts the facts of the last seconds, for the limit' },
  ],
};

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
