import type { JobRun, ScheduledJob } from '#platform/postgres';
import {
  Turns,
  forEachGroup,
  toGroups,
  toRepositoryKey,
  type CommitsJobDependencies,
  type ConnectionTurn,
  type Group,
} from './organization-turns.service.js';
import { listBoundWorkspaces, type BoundPosition, type BoundWorkspace } from './followed-repositories.queries.js';
import { readRepository } from './repository-commits.job.js';
import { storeVcsEvents } from './vcs-events.queries.js';
import { endDeliveries, listPendingDeliveries, type PendingDelivery } from './webhooks.queries.js';

const EVERY_MS = 1_000;
const HANDLED_AT_ONCE = 1_000;
/** The time of an organization in a round. Polls continue where it was not sufficient. */
const TIME_OF_ORGANIZATION_MS = 10_000;

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
      const turns = new Turns(dependencies.startDeadline, TIME_OF_ORGANIZATION_MS);
      await forEachGroup(turns, round, groups, (group, turn) => handleDeliveries(dependencies, round, group, turn));
      pauses.removeOld();
    },
  };
};

const handleDeliveries = async (
  dependencies: CommitsJobDependencies,
  round: JobRun,
  group: Group<PendingDelivery>,
  turn: ConnectionTurn,
): Promise<void> => {
  const { database, clock } = dependencies;
  const [{ organization, token, identifier }] = group;
  const [first, ...others] = await listBoundOfRepository(dependencies, {
    organization,
    token,
    identifier,
    workspace: '',
  });
  if (first) await readRepository(dependencies, round, [first, ...others], turn);
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
    const page: readonly (BoundWorkspace & BoundPosition)[] = await listBoundWorkspaces(database, after, {
      served: [],
      positions: [],
    });
    const own = page.filter((row) => toRepositoryKey(row) === key);
    listed.push(...own);
    after = own.length > 0 && own.length === page.length ? own.at(-1) : undefined;
  }
  return listed;
};
