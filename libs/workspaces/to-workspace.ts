import { Command } from '@nestjs/cqrs';
import type { BindingsHow, DataOf, Message, Tag } from '#kernel';
import type { Actor, Person } from '#access';
import { unchanged, writeOf, type EventStore, type Write } from '#event-store';
import type { BindingRow, TagReference } from '#tag-bindings';
import type { LockSnapshot } from './lock.queries.js';
import type { LockWish } from './lock.js';
import type { ConsumerCommand } from './remote-state-consumers.js';
import { workspace, type WorkspaceCommand } from './workspace.js';
import type { WorkspaceTarget, WorkspaceRow } from './workspaces.queries.js';

export { AGENT_POOL, EXECUTION_MODE } from './execution.queries.js';
export { lockSnapshot, type LockSnapshot } from './lock.queries.js';
export type { OutputFact, StateFacts } from './state-head.js';
export { CurrentRuns } from './current-runs.port.js';
export { CurrentStates } from './current-states.port.js';
export { ToolReleases } from './tool-releases.catalogue.js';
export { relatedWorkspaces } from './workspaces.related.js';

/** Flat tags as a request names them. */
type TagWish =
  Message<'AddTags', { tags: readonly TagReference[] }> | Message<'RemoveTags', { tags: readonly TagReference[] }>;

export type LaterCommand =
  | Exclude<WorkspaceCommand, { type: 'CreateWorkspace' | LockWish['type'] | TagWish['type'] } | ConsumerCommand>
  | LockWish
  | TagWish;

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

/** Bindings for one workspace; resolves to all that it has of its own then. */
export class BindToWorkspace extends Command<readonly BindingRow[]> {
  constructor(
    readonly workspace: string,
    readonly bindings: readonly Tag[],
    readonly how: BindingsHow,
    readonly actor: Actor,
  ) {
    super();
  }
}

/** Adds a flat tag to workspaces, to all of them or none. */
export class TagWorkspaces extends Command<void> {
  constructor(
    readonly tag: string,
    readonly workspaces: readonly string[],
    readonly actor: Actor,
  ) {
    super();
  }
}

/** Takes flat tags from all workspaces of an organization. */
export class DeleteTags extends Command<void> {
  constructor(
    readonly organization: string,
    readonly tags: readonly string[],
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
  readonly holder: Person | null;
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

/** `snapshot` is lockSnapshot, read with a statement of the caller's own. */
export const workspaceLock = async (
  store: EventStore,
  id: string,
  organization: string,
  snapshot: LockSnapshot,
): Promise<WorkspaceLock> => {
  const loaded = await store.restore(id, workspace, snapshot);
  const holder = loaded.state.status === 'active' ? (loaded.state.lock?.holder ?? null) : null;
  const kept = unchanged(id, loaded.version);
  const { lockedSince, isHolderHidden } = snapshot;
  return {
    holder,
    kept,
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
        commands.push({ type: 'LockWorkspace', data: { holder: run, reason: '', lockedSince, isHolderHidden } });
      }
      return commands.length > 0 ? writeOf(workspace, loaded, organization, ...commands) : kept;
    },
  };
};
