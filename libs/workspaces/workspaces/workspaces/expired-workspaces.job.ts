import { formatTimestamp, type Clock, type Ids } from '#platform/kernel';
import { createSystemContext } from '#api/access';
import type { EventStore } from '#storage/event-store';
import type { ScheduledJob } from '#platform/postgres';
import { workspace } from './workspace.js';
import { listExpiredWorkspaces } from './deleted-workspaces.queries.js';

const EVERY_MS = 60_000;

/**
 * Ends the deleted workspaces that can no longer be recovered. Their files are removed after that. A failed purge does not
 * prevent the others; the first error becomes the cause of the thrown one.
 */
export const createExpiredWorkspacesJob = (store: EventStore, clock: Clock, ids: Ids): ScheduledJob => ({
  name: 'expired_workspaces',
  everyMs: EVERY_MS,
  run: async ({ signal, done }) => {
    const failures: unknown[] = [];
    for await (const expired of listExpiredWorkspaces(store.database, formatTimestamp(clock.now().getTime()))) {
      if (signal.aborted) return;
      try {
        await purge(store, ids, expired);
        done();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length === 0) return;
    throw new Error(`${failures.length} deleted workspaces could not be purged`, { cause: failures[0] });
  },
});

const purge = (
  store: EventStore,
  ids: Ids,
  { id, organization }: { readonly id: string; readonly organization: string },
): Promise<unknown> =>
  store.handle({
    decider: workspace,
    load: () => store.load(id, workspace),
    command: () => ({ type: 'PurgeWorkspace', data: { expired: true } }) as const,
    organization: () => organization,
    context: createSystemContext('recovery period', ids.uuid()),
  });
