import type { ActingPrincipal } from '#api/access';
import { expectVersion, decideWrite, type EventStore, type StreamWrite } from '#storage/event-store';
import type { LockSnapshot } from './lock.view.js';
import { workspace, type WorkspaceCommand } from '../workspaces/workspace.js';

/** The lock of one workspace, for runs: their events and the events of the lock are appended together. */
export type WorkspaceLock = {
  readonly holder: ActingPrincipal | null;
  /** Leaves the lock as it is, and requires the workspace's version at the append. */
  readonly precondition: StreamWrite;
  /**
   * Returns the write that passes the lock from one run to another; null stands for no run. A run that lost the lock to
   * a forced unlock has none to pass. Throws if the workspace is locked, or if a state is being uploaded and the change
   * is not forced.
   */
  readonly passed: (change: {
    readonly from: string | null;
    readonly to: string | null;
    readonly forced?: boolean;
  }) => StreamWrite;
};

/** `snapshot` is buildLockSnapshotJson, read with a statement of the caller's own. */
export const loadWorkspaceLock = async (
  store: EventStore,
  id: string,
  organization: string,
  snapshot: LockSnapshot,
): Promise<WorkspaceLock> => {
  const loaded = await store.restore(id, workspace, snapshot);
  const holder = loaded.state.status === 'active' ? (loaded.state.lock?.holder ?? null) : null;
  const precondition = expectVersion(id, loaded.version);
  const { lockedSince, isHolderHidden } = snapshot;
  return {
    holder,
    precondition,
    passed: ({ from, to, forced = false }) => {
      const commands: WorkspaceCommand[] = [];
      if (from !== null && holder?.id === from) {
        commands.push(
          forced
            ? { type: 'ForceUnlockWorkspace', data: {} }
            : { type: 'UnlockWorkspace', data: { holder, lockedSince, isHolderHidden } },
        );
      }
      if (to !== null) {
        const run = { type: 'runs', id: to, name: to } as const;
        commands.push({
          type: 'LockWorkspace',
          data: { holder: run, reason: '', expiresAt: null, lockedSince, isHolderHidden },
        });
      }
      return commands.length > 0 ? decideWrite(workspace, loaded, organization, ...commands) : precondition;
    },
  };
};
