import { Refused, type Recorded } from '#kernel';
import { unchanged, writeOf, type EventStore, type Follower } from '#event-store';
import { systemContext } from '#access';
import { workspaceLock, type WorkspaceEvent } from '#workspaces';
import { run } from './run.js';
import type { RunEvent } from './run-event.js';
import { nextInQueues, runForCommand } from './runs.queries.js';

/**
 * After these it may be somebody's turn in a workspace: it has been given back, or somebody new waits, or somebody who
 * waited has gone. All other ways in which a run ends give the workspace back.
 */
const MAY_FREE: readonly (WorkspaceEvent | RunEvent)['type'][] = [
  'WorkspaceUnlocked',
  'RunCreated',
  'RunDiscarded',
  'RunCanceled',
];

/**
 * Starts the run whose turn it is, as soon as its workspace is free. It looks at how things are and not at what the
 * events say, so that a batch that comes again does nothing a second time.
 */
export const runQueueFollower: Follower = {
  name: 'run_queue',
  batch: 500,
  only: MAY_FREE,
  tables: [],
  follow: async (events, session, store) => {
    const causes = new Map(
      events.filter(({ type }) => (MAY_FREE as readonly string[]).includes(type)).map((event) => [event.stream, event]),
    );
    if (causes.size === 0) return [];
    const turns = await session.run<{ id: string; cause: string }>(nextInQueues([...causes.keys()]));
    for (const { id, cause } of turns) await start(store, id, causes.get(cause));
    return [];
  },
};

const start = async (store: EventStore, id: string, cause: Recorded | undefined): Promise<void> => {
  const context = { ...systemContext('run queue', cause?.context.correlation ?? ''), causation: cause?.id ?? null };
  try {
    await store.untilFirst(async () => {
      const { organization, organizationVersion, ...found } = await runForCommand(store.database, null, id);
      const lock = await workspaceLock(store, found.workspace, organization, found.workspaceSnapshot);
      const loaded = await store.restore(id, run, found.snapshot);
      const writes = [
        unchanged(organization, organizationVersion),
        lock.passed({ from: null, to: id }),
        writeOf(run, loaded, organization, { type: 'QueueRun', data: {} }),
      ];
      await store.append(writes, context);
    });
  } catch (error) {
    // Somebody was faster: the workspace is locked, or the run has gone. The event that tells so will come here as well.
    if (!(error instanceof Refused) || !['conflict', 'not-found'].includes(error.kind)) throw error;
  }
};
