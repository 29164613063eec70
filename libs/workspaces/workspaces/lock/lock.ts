import type { ActingPrincipal } from '#api/access/rules';
import {
  conflict,
  unavailable,
  type Message,
  type Refusal,
  type HandlersByType,
  type Timestamp,
} from '#platform/kernel';
import { describeHolder } from './lock-holder.js';
import { decideDiscard, decidePromotion, releaseHead, type StateEvent } from '../workspaces/state-head.js';
import type { ActiveWorkspace, WorkspaceLockState, WorkspaceState } from '../workspaces/workspace-state.js';

/**
 * The lock of a workspace.
 *
 * unlocked ──lock──► locked ──unlock (by its holder), force-unlock (by an admin)──► unlocked
 *
 * Unlocking makes the latest finalized state version current; while one is still being uploaded it must wait. Force
 * does not wait: the version that is still pending is discarded.
 */
export type LockEvent =
  | Message<'WorkspaceLocked', { holder: ActingPrincipal; reason: string }>
  | Message<'WorkspaceUnlocked', { holder: ActingPrincipal; forced: boolean }>;

/** Commands that are refused if another caller holds the lock. */
export type LockCommandInput =
  | Message<'LockWorkspace', { holder: ActingPrincipal; reason: string }>
  | Message<'UnlockWorkspace', { holder: ActingPrincipal }>;

/**
 * Facts about the lock that a refusal needs and the state does not have: its time, and whether the caller may see its
 * holder.
 */
type LockRefusalDetails = { readonly lockedSince: Timestamp | null; readonly isHolderHidden: boolean };

type WithLockDetails<W> = W extends Message<infer Type, infer Data> ? Message<Type, Data & LockRefusalDetails> : never;

export type LockCommand = WithLockDetails<LockCommandInput> | Message<'ForceUnlockWorkspace', Record<never, never>>;

const decideUnlock = (
  { lock, stateHead }: ActiveWorkspace & { readonly lock: WorkspaceLockState },
  forced: boolean,
): readonly (LockEvent | StateEvent)[] => [
  ...decidePromotion(stateHead),
  { type: 'WorkspaceUnlocked', data: { holder: lock.holder, forced } },
];

/**
 * Describes the holder of the lock, its time and its reason: for people after the words that clients look for, and as
 * data.
 */
const describeLockConflict = (
  { holder, reason }: WorkspaceLockState,
  { lockedSince: since, isHolderHidden }: LockRefusalDetails,
  refusal: string,
): Refusal => {
  // A reason is free text, so clients must not mistake it for those words.
  const why = reason === '' || reason.includes('is locked by') ? '' : `: ${reason}`;
  const detail = `${refusal} ${describeHolder(holder, isHolderHidden)}${since === null ? '' : ` since ${since}`}${why}`;
  const visibleHolder = isHolderHidden ? { ...holder, name: null } : holder;
  return conflict(detail, { lock: { holder: visibleHolder, since, reason } });
};

const isLocked = (state: ActiveWorkspace): state is ActiveWorkspace & { readonly lock: WorkspaceLockState } =>
  state.lock !== null;

export const lockDecisions: HandlersByType<LockCommand, [state: ActiveWorkspace], readonly (LockEvent | StateEvent)[]> =
  {
    LockWorkspace: ({ holder, reason, ...refusable }, state) => {
      if (state.lock)
        throw describeLockConflict(state.lock, refusable, 'Unable to lock workspace. The workspace is already');
      return [{ type: 'WorkspaceLocked', data: { holder, reason } }];
    },
    UnlockWorkspace: ({ holder, ...refusable }, state) => {
      if (!isLocked(state)) throw conflict('Unable to unlock workspace. The workspace is not locked');
      if (state.lock.holder.id !== holder.id) {
        throw describeLockConflict(state.lock, refusable, 'Unable to unlock workspace. The workspace is');
      }
      if (state.stateHead.latest?.status === 'pending') {
        throw unavailable('Unable to unlock workspace. The latest state version is still pending', 1);
      }
      return decideUnlock(state, false);
    },
    ForceUnlockWorkspace: (_, state) => {
      if (!isLocked(state)) throw conflict('Unable to force-unlock workspace. The workspace is not locked');
      return [...decideDiscard(state.stateHead), ...decideUnlock(state, true)];
    },
  };

export const lockEvolutions: HandlersByType<LockEvent, [state: WorkspaceState], WorkspaceState> = {
  WorkspaceLocked: ({ holder, reason }, state) =>
    state.status === 'active' ? { ...state, lock: { holder, reason } } : state,
  WorkspaceUnlocked: (_, state) =>
    state.status === 'active' ? { ...state, lock: null, stateHead: releaseHead(state.stateHead) } : state,
};
