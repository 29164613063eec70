import { createHash } from 'node:crypto';
import { formatTimestamp, sql, type Clock, type Ids } from '#platform/kernel';
import { createSystemContext } from '#api/access';
import { decideWrite, expectVersion, newStream, type EventStore } from '#storage/event-store';
import type { ScheduledJob } from '#platform/postgres';
import { createServerRun } from '#runs/runs';
import { listWorkspacesToDestroy, workspace, type ToolReleases, type WorkspaceToDestroy } from '#workspaces/workspaces';
import { destroyReminder, findDueReminder } from './destroy-reminder.js';

const EVERY_MS = 10_000;
const DAY_MS = 24 * 60 * 60 * 1_000;

type AutomaticDestroyDependencies = {
  readonly store: EventStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly releases: ToolReleases;
};

const ID_CHARACTERS = 16;

/** Returns the same id for the same cause, so that nothing happens twice. */
const deriveId = (prefix: string, ...cause: readonly (string | number)[]): string =>
  `${prefix}-${createHash('sha256').update(cause.join(' ')).digest('hex').slice(0, ID_CHARACTERS)}`;

/** Queues a destroy run that needs no confirmation, and clears the time that the workspace sets, in one append. */
const destroy = (
  { store, ids, releases }: AutomaticDestroyDependencies,
  { id, at, isFixed }: WorkspaceToDestroy,
): Promise<boolean> => {
  const clearTime = async (organization: string) => {
    const command = { type: 'UpdateWorkspace', data: { changes: { autoDestroyAt: null } } } as const;
    return decideWrite(workspace, await store.load(id, workspace), organization, command);
  };
  return createServerRun(
    store,
    releases,
    {
      id: deriveId('run', 'destroy', id, at),
      workspace: id,
      message: `Automatic destroy, planned for ${at}`,
      source: 'tfe-infrastructure-lifecycle',
      createdBy: 'automatic destroy',
      decideOptions: ({ allowDestroyPlan }) => (allowDestroyPlan ? { isDestroy: true, autoApply: true } : null),
      ...(isFixed ? { prepareChange: clearTime } : {}),
    },
    createSystemContext('automatic destroy', ids.uuid()),
  );
};

/** Records a reminder, which the configurations of notifications send. Resolves to false if it is recorded. */
const remind = (
  { store, ids }: AutomaticDestroyDependencies,
  { id, organization, at }: WorkspaceToDestroy,
  hours: number,
): Promise<boolean> => {
  const stream = deriveId('adr', id, at, hours);
  return store.retryOnConflict(async () => {
    const row = await store.database.row<{ exists: boolean; workspaceVersion: number }>(sql`
      select s.version as "workspaceVersion", exists (select 1 from event_store.streams where stream = ${stream}) as exists
        from workspaces w join event_store.streams s on s.stream = w.id where w.id = ${id}`);
    if (!row || row.exists) return false;
    const command = { type: 'RemindAutoDestroy', data: { workspace: id, at, hours } } as const;
    const write = decideWrite(destroyReminder, newStream(stream, destroyReminder), organization, command);
    await store.append(
      [expectVersion(id, row.workspaceVersion), write],
      createSystemContext('automatic destroy', ids.uuid()),
    );
    return true;
  });
};

/**
 * Destroys resources at the time that settings say, and reminds people 24 and 12 hours before. A time that passed more than a day
 * ago does nothing: the server was away, or somebody has set it afterwards.
 */
export const createAutomaticDestroyJob = (dependencies: AutomaticDestroyDependencies): ScheduledJob => ({
  name: 'automatic_destroy',
  everyMs: EVERY_MS,
  run: async ({ signal, done }) => {
    const now = dependencies.clock.now();
    const [from, to] = [formatTimestamp(now.getTime() - DAY_MS), formatTimestamp(now.getTime() + DAY_MS)];
    for (const planned of await listWorkspacesToDestroy(dependencies.store.database, from, to)) {
      if (signal.aborted) return;
      const hours = Date.parse(planned.at) <= now.getTime() ? null : findDueReminder(planned.at, now);
      const isDone = hours === null ? await destroy(dependencies, planned) : await remind(dependencies, planned, hours);
      if (isDone) done();
    }
  },
});
