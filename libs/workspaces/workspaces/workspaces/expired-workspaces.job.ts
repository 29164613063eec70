import type { Clock, Ids } from '#platform/kernel';
import { createExpiredItemsJob } from '#api/access';
import type { EventStore } from '#storage/event-store';
import type { ScheduledJob } from '#platform/postgres';
import { workspace } from './workspace.js';

/** Ends the deleted workspaces that can no longer be recovered. Their files are removed after that. */
export const createExpiredWorkspacesJob = (store: EventStore, clock: Clock, ids: Ids): ScheduledJob =>
  createExpiredItemsJob(
    { store, clock, ids },
    {
      name: 'expired_workspaces',
      everyMs: 60_000,
      table: 'deleted_workspaces',
      noun: 'workspaces',
      decider: workspace,
      purge: { type: 'PurgeWorkspace', data: { expired: true } },
    },
  );
