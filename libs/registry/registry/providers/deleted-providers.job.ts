import { expectVersion, decideWrite, type EventStore } from '#storage/event-store';
import type { ScheduledJob } from '#platform/postgres';
import { registryProviderVersion } from '../versions/registry-provider-version.js';
import { VERSIONS_PER_DELETION, findVersionsOfDeletedProvider } from './registry-providers.queries.js';

const EVERY_MS = 30_000;

/**
 * Deletes the remaining versions of providers that were deleted for good in steps, because one append to thousands of streams would delay
 * every follower. The server no longer serves these versions. Each step reads which versions remain, so the next round
 * resumes an interrupted deletion on any process. The audit trail records each deletion.
 */
export const createDeletedProvidersJob = (store: EventStore): ScheduledJob => ({
  name: 'deleted_providers',
  everyMs: EVERY_MS,
  run: async ({ signal, done }) => {
    while (!signal.aborted) {
      const deleted = await deleteStep(store);
      if (deleted === 0) return;
      done(deleted);
    }
  },
});

/** Returns how many versions it deleted; 0 if none is left. */
const deleteStep = (store: EventStore): Promise<number> =>
  store.retryOnConflict(async () => {
    const remaining = await findVersionsOfDeletedProvider(store.database, VERSIONS_PER_DELETION);
    if (!remaining) return 0;
    const { provider, organization, organizationVersion, versions } = remaining;
    const deletion = (await store.log.stream(provider)).at(-1);
    if (!deletion) throw new Error(`the provider ${provider} of a version was never created`);
    const writes = versions.map(async ({ id, snapshot }) => {
      const loaded = await store.restore(id, registryProviderVersion, snapshot);
      return decideWrite(registryProviderVersion, loaded, organization, { type: 'DeleteVersion', data: {} });
    });
    // The audit trail names the caller that deleted or purged the provider.
    const context = { ...deletion.context, causation: deletion.id };
    await store.append([expectVersion(organization, organizationVersion), ...(await Promise.all(writes))], context);
    return versions.length;
  });
