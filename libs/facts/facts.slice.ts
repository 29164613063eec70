import { aggregate, kindsOf, projectionOf, type Slice } from '#event-store';
import { auditFactSource } from './audit-fact-source.js';
import { auditFactSourceEvents } from './audit-fact-sources.events.js';
import { auditFactSources } from './audit-fact-sources.projection.js';
import { factEvents } from './facts.events.js';

/** Facts have no view of their own: they are in the log and in the audit trail. Their registered sources have one. */
export const factsSlice: Slice = {
  name: 'facts',
  kinds: { ...kindsOf(factEvents), ...kindsOf(auditFactSourceEvents) },
  aggregates: [aggregate('afs', auditFactSource)],
  projections: [projectionOf(auditFactSources)],
  followers: [],
  migrations: new URL('./sql/', import.meta.url),
};
