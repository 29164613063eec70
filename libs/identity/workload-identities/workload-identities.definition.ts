import { defineAggregate, toProjection, type ModuleDefinition } from '#storage/event-store';
import { workloadIdentityEvents } from './identities/workload-identities.events.js';
import { WORKLOAD_IDENTITY_NAMES } from './identities/workload-identity-names.js';
import { workloadIdentities, workloadIdentityNames } from './identities/workload-identities.projection.js';
import { workloadIdentity } from './identities/workload-identity.js';

export const workloadIdentitiesDefinition: ModuleDefinition = {
  name: 'workload-identities',
  kinds: workloadIdentityEvents,
  aggregates: [defineAggregate('wid', workloadIdentity)],
  projections: [toProjection(workloadIdentities), toProjection(workloadIdentityNames)],
  followers: [],
  uniqueNames: [WORKLOAD_IDENTITY_NAMES],
  migrations: new URL('./sql/', import.meta.url),
};
