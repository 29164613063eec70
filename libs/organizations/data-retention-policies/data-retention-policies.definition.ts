import { defineAggregate, toProjection, type ModuleDefinition } from '#storage/event-store';
import { dataRetentionPolicy } from './data-retention-policy.js';
import { retentionEvents } from './data-retention-policy.js';
import { dataRetentionPolicies } from './data-retention-policies.projection.js';

export const retentionDefinition: ModuleDefinition = {
  name: 'retention',
  kinds: retentionEvents,
  aggregates: [defineAggregate('drp', dataRetentionPolicy)],
  projections: [toProjection(dataRetentionPolicies)],
  followers: [],
  migrations: new URL('./sql/', import.meta.url),
};
