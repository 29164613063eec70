import type { Clock, Ids } from '#platform/kernel';
import { createSystemContext } from '#api/access';
import { MAX_LINK_LIFETIME_MS } from '#storage/blob-store';
import type { EventStore } from '#storage/event-store';
import type { ScheduledJob } from '#platform/postgres';
import { failStateVersion } from '#workspaces/workspaces';
import { listAbandonedStateVersions } from '../state-versions/state-versions.queries.js';

const PAGE_SIZE = 100;
const EVERY_MS = 10 * 60 * 1000;

/**
 * Ends versions whose upload links have expired without a state. While such a version was pending, the holder of the
 * lock could not unlock the workspace.
 */
export const createAbandonedStateVersionsJob = (store: EventStore, clock: Clock, ids: Ids): ScheduledJob => ({
  name: 'abandoned_state_versions',
  everyMs: EVERY_MS,
  run: async ({ signal, done }) => {
    const before = new Date(clock.now().getTime() - MAX_LINK_LIFETIME_MS);
    while (!signal.aborted) {
      const abandoned = await listAbandonedStateVersions(store.database, before, PAGE_SIZE);
      if (abandoned.length === 0) return;
      for (const { id, workspace } of abandoned) {
        await failStateVersion(store, workspace, id, createSystemContext('abandoned state versions', ids.uuid()));
        done();
      }
    }
  },
});
