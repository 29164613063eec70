import { Command } from '@nestjs/cqrs';
import type { DataOf } from '#kernel';
import type { Actor } from '#access';
import { unchanged, writeOf, type EventStore, type Snapshot, type Write } from '#event-store';
import type { Holder } from './holder.js';
import { workspace, type WorkspaceCommand } from './workspace.js';
import type { WorkspaceTarget, WorkspaceRow } from './workspaces.queries.js';

export { AGENT_POOL, EXECUTION_MODE } from './execution.queries.js';
export type { Holder } from './holder.js';
export type { OutputFact, StateFacts } from './state-head.js';
export { CurrentRuns } from './current-runs.port.js';
export { CurrentStates } from './current-states.port.js';
export { StateOutputs } from './state-outputs.port.js';

export type LaterCommand = Exclude<WorkspaceCommand, { type: 'CreateWorkspace' }>;

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

/** `snapshot` is that of the workspace's stream, read with a statement of the caller's own. */
export const workspaceLock = async (
  store: EventStore,
  id: string,
  organization: string,
  snapshot: Snapshot,
): Promise<WorkspaceLock> => {
  const loaded = await store.restore(id, workspace, snapshot);
  const holder = loaded.state.status === 'active' ? (loaded.state.lock?.holder ?? null) : null;
  const kept = unchanged(id, loaded.version);
  return {
    holder,
    kept,
    passed: ({ from, to, forced = false }) => {
      const commands: WorkspaceCommand[] = [];
      if (from !== null && holder?.id === from) {
        commands.push(
          forced ? { type: 'ForceUnlockWorkspace', data: {} } : { type: 'UnlockWorkspace', data: { holder } },
        );
      }
      if (to !== null) {
        commands.push({ type: 'LockWorkspace', data: { holder: { type: 'runs', id: to, name: to }, reason: '' } });
      }
      return commands.length > 0 ? writeOf(workspace, loaded, organization, ...commands) : kept;
    },
  };
};
