import type { Clock, Ids } from '#platform/kernel';
import { createExpiredItemsJob } from '#api/access';
import type { EventStore } from '#storage/event-store';
import type { ScheduledJob } from '#platform/postgres';
import { project } from './project.js';

/** Ends the deleted projects that can no longer be recovered, with their variable sets. */
export const createExpiredProjectsJob = (store: EventStore, clock: Clock, ids: Ids): ScheduledJob =>
  createExpiredItemsJob(
    { store, clock, ids },
    {
      name: 'expired_projects',
      everyMs: 60_000,
      table: 'deleted_projects',
      noun: 'projects',
      decider: project,
      purge: { type: 'PurgeProject', data: { expired: true } },
    },
  );
