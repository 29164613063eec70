import { defineAggregate, toProjection, type ModuleDefinition } from '#storage/event-store';
import { auditFactSource } from './sources/audit-fact-source.js';
import { auditFactSourceEvents } from './sources/audit-fact-source.js';
import { auditFactSources } from './sources/audit-fact-sources.projection.js';
import { factEvents } from './facts/facts.events.js';

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
