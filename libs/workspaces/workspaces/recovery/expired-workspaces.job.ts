import { formatTimestamp, type Clock, type Ids } from '#platform/kernel';
import { createSystemContext } from '#api/access';
import type { EventStore } from '#storage/event-store';
import type { ScheduledJob } from '#platform/postgres';
import { workspace } from '../workspaces/workspace.js';
import { listExpiredWorkspaces } from './deleted-workspaces.queries.js';

const PAGE_SIZE = 100;
const EVERY_MS = 60_000;

/** Ends the deleted workspaces that can no longer be recovered. Their files are removed after that. */
export const createExpiredWorkspacesJob = (store: EventStore, clock: Clock, ids: Ids): ScheduledJob => ({
  name: 'expired_workspaces',
  everyMs: EVERY_MS,
  run: async ({ signal, done }) => {
    const now = formatTimestamp(clock.now().getTime());
    while (!signal.aborted) {
      const expired = await listExpiredWorkspaces(store.database, now, PAGE_SIZE);
      if (expired.length === 0) return;
      for (const { id, organization } of expired) {
        await store.handle({
          decider: workspace,
          load: () => store.load(id, workspace),
          command: () => ({ type: 'PurgeWorkspace', data: { expired: true } }) as const,
          organization: () => organization,
          context: createSystemContext('recovery period', ids.uuid()),
        });
        done();
      }
    }
  },
});
