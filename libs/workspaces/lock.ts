import { conflict, unavailable, type Message, type Table } from '#kernel';
import { describeHolder, type Holder } from './holder.js';
import { discarding, promotion, type StateEvent } from './state-head.js';
import type { ActiveWorkspace, Workspace } from './workspace.js';

/**
 * The lock of a workspace.
 *
 *   unlocked ──lock──► locked ──unlock (by its holder), force-unlock (by an admin)──► unlocked
 *
 * Unlocking makes the latest finalized state version current; while one is still being uploaded it must wait. Force does
 * not wait: the version that is still pending is discarded.
 */
export type Lock = { readonly holder: Holder; readonly reason: string };

export type LockEvent =
  | Message<'WorkspaceLocked', { holder: Holder; reason: string }>
  | Message<'WorkspaceUnlocked', { holder: Holder; forced: boolean }>;

export type LockCommand =
  | Message<'LockWorkspace', { holder: Holder; reason: string }>
  | Message<'UnlockWorkspace', { holder: Holder }>
  | Message<'ForceUnlockWorkspace', Record<never, never>>;

const unlocked = (
  { lock, stateHead }: ActiveWorkspace & { readonly lock: Lock },
  forced: boolean,
): readonly (LockEvent | StateEvent)[] => [
  ...promotion(stateHead),
  { type: 'WorkspaceUnlocked', data: { holder: lock.holder, forced } },
];

const isLocked = (state: ActiveWorkspace): state is ActiveWorkspace & { readonly lock: Lock } => state.lock !== null;

export const lockDecisions: Table<LockCommand, [state: ActiveWorkspace], readonly (LockEvent | StateEvent)[]> = {
  LockWorkspace: ({ holder, reason }, state) => {
    if (state.lock) {
      throw conflict(`Unable to lock workspace. The workspace is already ${describeHolder(state.lock.holder)}`);
    }
    return [{ type: 'WorkspaceLocked', data: { holder, reason } }];
  },
  UnlockWorkspace: ({ holder }, state) => {
    if (!isLocked(state)) throw conflict('Unable to unlock workspace. The workspace is not locked');
    if (state.lock.holder.id !== holder.id) {
      throw conflict(`Unable to unlock workspace. The workspace is ${describeHolder(state.lock.holder)}`);
    }
    if (state.stateHead.latest?.status === 'pending') {
      throw unavailable('Unable to unlock workspace. The latest state version is still pending', 1);
    }
    return unlocked(state, false);
  },
  ForceUnlockWorkspace: (_, state) => {
    if (!isLocked(state)) throw conflict('Unable to force-unlock workspace. The workspace is not locked');
    return [...discarding(state.stateHead), ...unlocked(state, true)];
  },
};

export const lockEvolutions: Table<LockEvent, [state: Workspace], Workspace> = {
  WorkspaceLocked: ({ holder, reason }, state) =>
    state.status === 'active' ? { ...state, lock: { holder, reason } } : state,
  WorkspaceUnlocked: (_, state) => (state.status === 'active' ? { ...state, lock: null } : state),
};
