import { Command } from '@nestjs/cqrs';
import type { DataOf } from '#kernel';
import type { Actor } from '#access';
import { unchanged, writeOf, type EventStore, type Write } from '#event-store';
import type { Holder } from './holder.js';
import type { LockSnapshot } from './lock.queries.js';
import type { LockWish } from './lock.js';
import type { ConsumerCommand } from './remote-state-consumers.js';
import { workspace, type WorkspaceCommand } from './workspace.js';
import type { WorkspaceTarget, WorkspaceRow } from './workspaces.queries.js';

export { AGENT_POOL, EXECUTION_MODE } from './execution.queries.js';
export type { Holder } from './holder.js';
export { LOCK_SNAPSHOT, type LockSnapshot } from './lock.queries.js';
export type { OutputFact, StateFacts } from './state-head.js';
export { CurrentRuns } from './current-runs.port.js';
export { CurrentStates } from './current-states.port.js';
export { ToolReleases } from './tool.releases.js';
export { relatedWorkspaces } from './workspaces.related.js';

export type LaterCommand =
  Exclude<WorkspaceCommand, { type: 'CreateWorkspace' | LockWish['type'] } | ConsumerCommand> | LockWish;

/** A command for one workspace, from this slice or a neighbour; resolves to how it stands then, null when it is gone. */
export class ToWorkspace extends Command<WorkspaceRow | null> {
  constructor(
    readonly target: WorkspaceTarget,
    readonly command: LaterCommand,
    readonly actor: Actor,
  ) {
    super();
  }
}

/** The file of a pending version has come by a signed link, which stands for the permission: nobody is asked for. */
export class FinalizeUpload extends Command<WorkspaceRow | null> {
  constructor(
    readonly workspace: string,
    readonly data: DataOf<LaterCommand, 'FinalizeStateVersion'>,
  ) {
    super();
  }
}

/** The lock of one workspace, for runs: their events and the lock's are appended together. */
export type WorkspaceLock = {
  readonly holder: Holder | null;
  /** Leaves the lock as it is; only holds the workspace at its version. */
  readonly kept: Write;
  /**
   * From one run to another, null for none. A run that has lost the lock to an administrator's force has none to give.
   * Throws what the workspace refuses: it is locked, or a state is still being uploaded, which only force does not mind.
   */
  readonly passed: (change: {
    readonly from: string | null;
    readonly to: string | null;
    readonly forced?: boolean;
  }) => Write;
};

/** `snapshot` is LOCK_SNAPSHOT, read with a statement of the caller's own. */
export const workspaceLock = async (
  store: EventStore,
  id: string,
  organization: string,
  snapshot: LockSnapshot,
): Promise<WorkspaceLock> => {
  const loaded = await store.restore(id, workspace, snapshot);
  const holder = loaded.state.status === 'active' ? (loaded.state.lock?.holder ?? null) : null;
  const kept = unchanged(id, loaded.version);
  const { lockedSince } = snapshot;
  return {
    holder,
    kept,
    passed: ({ from, to, forced = false }) => {
      const commands: WorkspaceCommand[] = [];
      if (from !== null && holder?.id === from) {
        commands.push(
          forced
            ? { type: 'ForceUnlockWorkspace', data: {} }
            : { type: 'UnlockWorkspace', data: { holder, lockedSince } },
        );
      }
      if (to !== null) {
        const run = { type: 'runs', id: to, name: to } as const;
        commands.push({ type: 'LockWorkspace', data: { holder: run, reason: '', lockedSince } });
      }
      return commands.length > 0 ? writeOf(workspace, loaded, organization, ...commands) : kept;
    },
  };
};
