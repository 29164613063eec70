import { sql, type Clock, type Ids } from '#platform/kernel';
import { createExpiredItemsJob } from '#api/access';
import type { EventStore } from '#storage/event-store';
import type { ScheduledJob } from '#platform/postgres';
import { variableSet } from './variable-set.js';

/** Ends the deleted variable sets that can no longer be recovered. */
export const createExpiredVariableSetsJob = (store: EventStore, clock: Clock, ids: Ids): ScheduledJob =>
  createExpiredItemsJob(
    { store, clock, ids },
    {
      name: 'expired_variable_sets',
      everyMs: 60_000,
      table: 'deleted_variable_sets',
      // The others end with their projects.
      where: sql`deleted_with is null`,
      noun: 'variable sets',
      decider: variableSet,
      purge: { type: 'PurgeVariableSet', data: { expired: true } },
    },
  );
