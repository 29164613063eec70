import { Logger } from '@nestjs/common';
import { formatTimestamp, type Clock, type Ids } from '#platform/kernel';
import { createSystemContext } from '#api/access';
import { decideWrite, expectVersion, newStream, type EventStore, type StreamWrite } from '#storage/event-store';
import type { ScheduledJob } from '#platform/postgres';
import {
  createServerRun,
  deriveId,
  findPlannedDestroy,
  listWorkspacesToDestroy,
  type WorkspaceToDestroy,
} from '#runs/runs';
import { workspace, type ToolReleases } from '#workspaces/workspaces';
import { destroyReminder } from './destroy-reminder.js';
import { computeEarliest, computeRange, findDueStep, REMINDERS } from './destroy-steps.js';
import { listRecordedStreams } from './recorded-streams.queries.js';

const EVERY_MS = 10_000;

type AutomaticDestroyDependencies = {
  readonly store: EventStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly releases: ToolReleases;
};

const logger = new Logger('AutomaticDestroy');

const toRunId = ({ id, at }: WorkspaceToDestroy): string => deriveId('run', `destroy ${id} ${at}`);
const toReminderId = ({ id, at }: WorkspaceToDestroy, hours: number): string => deriveId('adr', `${id} ${at} ${hours}`);

/** Clears the time that the workspace sets. It inherits from its project afterwards only if it did before, so it does not. */
const clearTime = async (store: EventStore, id: string, organization: string): Promise<StreamWrite> => {
  const changes = { autoDestroyAt: null, inheritsProjectAutoDestroy: false };
  return decideWrite(workspace, await store.load(id, workspace), organization, {
    type: 'UpdateWorkspace',
    data: { changes },
  });
};

/**
 * Queues a destroy run that needs no confirmation, and clears the time that the workspace sets, in one append. Resolves to false if
 * the workspace is busy, or no longer planned for this time.
 */
const destroy = (
  { store, ids, releases }: AutomaticDestroyDependencies,
  planned: WorkspaceToDestroy,
): Promise<boolean> => {
  const { id, at, hasTime } = planned;
  const context = createSystemContext('automatic destroy', ids.uuid());
  return createServerRun(
    store,
    releases,
    {
      id: toRunId(planned),
      workspace: id,
      message: `Automatic destroy, planned for ${at}`,
      source: 'tfe-infrastructure-lifecycle',
      createdBy: context.accessor,
      decideOptions: ({ destroyAt, isBusy }) =>
        destroyAt === at && !isBusy ? { isDestroy: true, autoApply: true } : null,
      ...(hasTime ? { prepareChange: (organization) => clearTime(store, id, organization) } : {}),
    },
    context,
  );
};

/**
 * Records a reminder, which the configurations of notifications send. Resolves to false if it is recorded, or if the workspace is no
 * longer planned for this time.
 */
const remind = (
  { store, clock, ids }: AutomaticDestroyDependencies,
  planned: WorkspaceToDestroy,
  hours: number,
  reminded: number | null,
): Promise<boolean> => {
  const { id, organization, at } = planned;
  const stream = toReminderId(planned, hours);
  return store.retryOnConflict(async () => {
    const current = await findPlannedDestroy(store.database, id);
    if (current?.at !== at || (await listRecordedStreams(store.database, [stream])).length > 0) return false;
    const earliest = formatTimestamp(computeEarliest(Date.parse(at), reminded ?? clock.now().getTime()));
    const command = { type: 'RemindAutoDestroy', data: { workspace: id, at, hours, earliest } } as const;
    const writes = [
      expectVersion(id, current.workspaceVersion),
      expectVersion(current.project, current.projectVersion),
      decideWrite(destroyReminder, newStream(stream, destroyReminder), organization, command),
    ];
    await store.append(writes, createSystemContext('automatic destroy', ids.uuid()));
    return true;
  });
};

/** Does what is due for a workspace. Resolves to false if nothing is. */
const takeStep = async (
  dependencies: AutomaticDestroyDependencies,
  planned: WorkspaceToDestroy,
  streams: ReadonlyMap<string, number>,
): Promise<boolean> => {
  if (streams.has(toRunId(planned))) return false;
  const recorded = new Map(
    REMINDERS.flatMap((hours) => {
      const time = streams.get(toReminderId(planned, hours));
      return time === undefined ? [] : [[hours, time] as const];
    }),
  );
  const step = findDueStep(Date.parse(planned.at), recorded, dependencies.clock.now().getTime());
  if (!step) return false;
  if (step.type === 'destroy') return destroy(dependencies, planned);
  return remind(dependencies, planned, step.hours, recorded.size > 0 ? Math.min(...recorded.values()) : null);
};

/**
 * Destroys resources at the time that settings say, and reminds people 24 and 12 hours before. No destroy run starts less than 12
 * hours after the first reminder of its time. A time that passed more than a day ago does nothing: the server was away, or somebody
 * has set it afterwards. A failure does not prevent the others; the first error becomes the cause of the thrown one.
 */
export const createAutomaticDestroyJob = (dependencies: AutomaticDestroyDependencies): ScheduledJob => ({
  name: 'automatic_destroy',
  everyMs: EVERY_MS,
  run: async ({ signal, done }) => {
    const { database } = dependencies.store;
    const { from, to } = computeRange(dependencies.clock.now().getTime());
    const all = await listWorkspacesToDestroy(database, formatTimestamp(from), formatTimestamp(to));
    if (all.length === 0) return;
    const ids = all.flatMap((one) => [toRunId(one), ...REMINDERS.map((hours) => toReminderId(one, hours))]);
    const recorded = await listRecordedStreams(database, ids);
    const streams = new Map(recorded.map(({ stream, time }) => [stream, Date.parse(time)]));
    const failures: unknown[] = [];
    for (const planned of all) {
      if (signal.aborted) return;
      try {
        if (await takeStep(dependencies, planned, streams)) done();
      } catch (error) {
        logger.warn('An automatic destroy failed', { workspace: planned.id });
        failures.push(error);
      }
    }
    if (failures.length > 0) throw new Error(`Automatic destroys failed: ${failures.length}`, { cause: failures[0] });
  },
});
