import type { Clock, Ids } from '#platform/kernel';
import { createExpiredItemsJob } from '#api/access';
import type { EventStore } from '#storage/event-store';
import type { ScheduledJob } from '#platform/postgres';
import { registryProvider } from './registry-provider.js';

/** Ends the deleted providers that can no longer be recovered. deleted-providers.job.ts deletes their versions. */
export const createExpiredProvidersJob = (store: EventStore, clock: Clock, ids: Ids): ScheduledJob =>
  createExpiredItemsJob(
    { store, clock, ids },
    {
      name: 'expired_providers',
      everyMs: 60_000,
      table: 'deleted_registry_providers',
      noun: 'providers',
      decider: registryProvider,
      purge: { type: 'PurgeRegistryProvider', data: { expired: true } },
    },
  );
