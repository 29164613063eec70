import { Refusal, type RecordedEvent } from '#platform/kernel';
import { expectVersion, decideWrite, type EventStore, type Follower } from '#storage/event-store';
import { createSystemContext } from '#api/access';
import { continueTrace } from '#platform/tracing';
import { loadWorkspaceLock, type WorkspaceEvent } from '#workspaces/workspaces';
import { run } from '../runs/run.js';
import type { RunEvent } from '../runs/run-event.js';
import { selectNextRuns, loadRunForCommand } from '../runs/runs.queries.js';

/**
 * After these events the next run of a workspace may start: the workspace was unlocked, a run was queued, or a waiting
 * run left the queue. A run that ends in another way unlocks the workspace.
 */
const EVENTS_THAT_MAY_FREE: readonly (WorkspaceEvent | RunEvent)['type'][] = [
  'WorkspaceUnlocked',
  'WorkspaceLockExpired',
  'RunCreated',
  'RunDiscarded',
  'RunCanceled',
];

/**
 * Starts the next run of a workspace as soon as the workspace is free. It reads the current state instead of trusting
 * the events, so a repeated batch has no effect.
 */
export const runQueueFollower: Follower = {
  name: 'run_queue',
  batch: 500,
  only: EVENTS_THAT_MAY_FREE,
  // It uses no names.
  keepEncrypted: true,
  tables: [],
  follow: async (events, session, store) => {
    const causes = new Map(
      events
        .filter(({ type }) => (EVENTS_THAT_MAY_FREE as readonly string[]).includes(type))
        .map((event) => [event.stream, event]),
    );
    if (causes.size === 0) return [];
    const turns = await session.run<{ id: string; cause: string }>(selectNextRuns([...causes.keys()]));
    for (const { id, cause } of turns) {
      const event = causes.get(cause);
      await continueTrace(event?.traceparent, 'start next run', {}, () => startRun(store, id, event));
    }
    return [];
  },
};

const startRun = async (store: EventStore, id: string, cause: RecordedEvent | undefined): Promise<void> => {
  const context = {
    ...createSystemContext('run queue', cause?.context.correlation ?? ''),
    causation: cause?.id ?? null,
  };
  try {
    await store.retryOnConflict(async () => {
      const { organization, organizationVersion, ...runForCommand } = await loadRunForCommand(store.database, null, id);
      const lock = await loadWorkspaceLock(
        store,
        runForCommand.workspace,
        organization,
        runForCommand.workspaceSnapshot,
      );
      const loaded = await store.restore(id, run, runForCommand.snapshot);
      const writes = [
        expectVersion(organization, organizationVersion),
        lock.passed({ from: null, to: id }),
        decideWrite(run, loaded, organization, { type: 'QueueRun', data: {} }),
      ];
      await store.append(writes, context);
    });
  } catch (error) {
    // Another command was faster: the workspace is locked, or the run has ended. The follower gets that event too.
    if (!(error instanceof Refusal) || !['conflict', 'not-found'].includes(error.kind)) throw error;
  }
};
