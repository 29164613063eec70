import type { JobRun, ScheduledJob } from '#platform/postgres';
import { listBoundWorkspaces, type BoundPosition, type BoundWorkspace } from './followed-repositories.queries.js';
import type { Pauses } from './pauses.service.js';
import {
  fetchCommits,
  forEachConnection,
  readRepository,
  toGroups,
  toRepositoryKey,
  type CommitsJobDependencies,
  type Group,
} from './repository-commits.job.js';
import { storeVcsEvents } from './vcs-events.queries.js';
import { endDeliveries, listPendingDeliveries, type PendingDelivery } from './webhooks.queries.js';

const EVERY_MS = 1_000;
const HANDLED_AT_ONCE = 1_000;

/**
 * Reads the repositories of new deliveries at once. It decides nothing itself: the reading is the same as in the job that reads all
 * repositories, and repairs what a lost delivery has missed.
 */
export const createWebhookDeliveriesJob = (dependencies: CommitsJobDependencies): ScheduledJob => {
  const { pauses } = dependencies;
  return {
    name: 'webhook_deliveries',
    everyMs: EVERY_MS,
    run: async (round) => {
      const pending = await listPendingDeliveries(dependencies.database, HANDLED_AT_ONCE);
      if (pending.length === 0) return;
      const groups = toGroups(pending, toRepositoryKey);
      await forEachConnection(dependencies, round, groups, (group) =>
        handleDeliveries(dependencies, pauses, round, group),
      );
      await fetchCommits(dependencies, pauses, round);
      pauses.removeOld();
    },
  };
};

const handleDeliveries = async (
  dependencies: CommitsJobDependencies,
  pauses: Pauses,
  round: JobRun,
  group: Group<PendingDelivery>,
): Promise<void> => {
  const { database, clock } = dependencies;
  const [{ token, identifier }] = group;
  const [first, ...others] = await listBoundOfRepository(dependencies, { token, identifier, workspace: '' });
  if (first) await readRepository(dependencies, pauses, round, [first, ...others]);
  const now = clock.now().toISOString();
  const events = group.map(({ organization, client, event, delivery }) => ({
    organization,
    client,
    workspace: null,
    level: 'info' as const,
    message: `The webhook of ${identifier} has sent ${event}`,
    suggestedAction: null,
    subject: delivery,
  }));
  await database.transaction([storeVcsEvents(events, now), endDeliveries(group, now)]);
};

const listBoundOfRepository = async (
  { database }: CommitsJobDependencies,
  start: BoundPosition,
): Promise<readonly (BoundWorkspace & BoundPosition)[]> => {
  const key = toRepositoryKey(start);
  const listed: (BoundWorkspace & BoundPosition)[] = [];
  for (let after: BoundPosition | undefined = start; after;) {
    const page: readonly (BoundWorkspace & BoundPosition)[] = await listBoundWorkspaces(database, after);
    const own = page.filter((row) => toRepositoryKey(row) === key);
    listed.push(...own);
    after = own.length > 0 && own.length === page.length ? own.at(-1) : undefined;
  }
  return listed;
};
