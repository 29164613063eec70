import { aggregate, kindsOf, projectionOf, type Slice } from '#event-store';
import { dataRetentionPolicy } from './data-retention-policy.js';
import { retentionEvents } from './data-retention-policies.events.js';
import { dataRetentionPolicies } from './data-retention-policies.projection.js';

export const retentionSlice: Slice = {
  name: 'retention',
  kinds: kindsOf(retentionEvents),
  aggregates: [aggregate('drp', dataRetentionPolicy)],
  projections: [projectionOf(dataRetentionPolicies)],
  followers: [],
  migrations: new URL('./sql/', import.meta.url),
};
