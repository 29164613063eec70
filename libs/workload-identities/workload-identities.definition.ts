import { defineAggregate, toEventRegistry, toProjection, type ModuleDefinition } from '#event-store';
import { workloadIdentityEvents } from './identities/workload-identities.events.js';
import { workloadIdentities } from './identities/workload-identities.projection.js';
import { workloadIdentity } from './identities/workload-identity.js';

export const workloadIdentitiesDefinition: ModuleDefinition = {
  name: 'workload-identities',
  kinds: toEventRegistry(workloadIdentityEvents),
  aggregates: [defineAggregate('wid', workloadIdentity)],
  projections: [toProjection(workloadIdentities)],
  followers: [],
  migrations: new URL('./sql/', import.meta.url),
};
