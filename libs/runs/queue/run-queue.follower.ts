import { Refusal, type RecordedEvent } from '#kernel';
import { expectVersion, decideWrite, type EventStore, type Follower } from '#event-store';
import { createSystemContext } from '#access';
import { loadWorkspaceLock, type WorkspaceEvent } from '#workspaces';
import { run } from '../runs/run.js';
import type { RunEvent } from '../runs/run-event.js';
import { selectNextRuns, loadRunForCommand } from '../runs/runs.queries.js';

/**
 * After these it may be somebody's turn in a workspace: it has been given back, or somebody new waits, or somebody who
 * waited has gone. All other ways in which a run ends give the workspace back.
 */
const EVENTS_THAT_MAY_FREE: readonly (WorkspaceEvent | RunEvent)['type'][] = [
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
  only: EVENTS_THAT_MAY_FREE,
  tables: [],
  follow: async (events, session, store) => {
    const causes = new Map(
      events
        .filter(({ type }) => (EVENTS_THAT_MAY_FREE as readonly string[]).includes(type))
        .map((event) => [event.stream, event]),
    );
    if (causes.size === 0) return [];
    const turns = await session.run<{ id: string; cause: string }>(selectNextRuns([...causes.keys()]));
    for (const { id, cause } of turns) await startRun(store, id, causes.get(cause));
    return [];
  },
};

const startRun = async (store: EventStore, id: string, cause: RecordedEvent | undefined): Promise<void> => {
  const context = {
    ...createSystemContext('run queue', cause?.context.correlation ?? ''),
    causation: cause?.id ?? null,
  };
  try {
    await store.untilFirst(async () => {
      const { organization, organizationVersion, ...found } = await loadRunForCommand(store.database, null, id);
      const lock = await loadWorkspaceLock(store, found.workspace, organization, found.workspaceSnapshot);
      const loaded = await store.restore(id, run, found.snapshot);
      const writes = [
        expectVersion(organization, organizationVersion),
        lock.passed({ from: null, to: id }),
        decideWrite(run, loaded, organization, { type: 'QueueRun', data: {} }),
      ];
      await store.append(writes, context);
    });
  } catch (error) {
    // Somebody was faster: the workspace is locked, or the run has gone. The event that tells so will come here as well.
    if (!(error instanceof Refusal) || !['conflict', 'not-found'].includes(error.kind)) throw error;
  }
};
