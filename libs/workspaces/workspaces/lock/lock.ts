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
 *
 * A lock with a lease ends by itself like a forced unlock, unless its holder renews the lease before.
 */
export type LockEvent =
  | Message<'WorkspaceLocked', { holder: ActingPrincipal; reason: string }>
  | Message<'WorkspaceUnlocked', { holder: ActingPrincipal; forced: boolean }>
  /** The present lock ends at this time. */
  | Message<'WorkspaceLockLeased', { expiresAt: Timestamp }>
  | Message<'WorkspaceLockExpired', { holder: ActingPrincipal }>;

/** Commands that are refused if another caller holds the lock. */
export type LockCommandInput =
  /** `isImported`: an import may give its own lock another reason, so that the workspace is never unlocked between both. */
  | Message<
      'LockWorkspace',
      { holder: ActingPrincipal; reason: string; expiresAt: Timestamp | null; isImported?: boolean }
    >
  | Message<'RenewLock', { holder: ActingPrincipal; expiresAt: Timestamp }>
  | Message<'UnlockWorkspace', { holder: ActingPrincipal }>;

/**
 * Facts about the lock that a refusal needs and the state does not have: its time, and whether the caller may see its
 * holder.
 */
type LockRefusalDetails = { readonly lockedSince: Timestamp | null; readonly isHolderHidden: boolean };

type WithLockDetails<W> = W extends Message<infer Type, infer Data> ? Message<Type, Data & LockRefusalDetails> : never;

export type LockCommand =
  | WithLockDetails<LockCommandInput>
  | Message<'ForceUnlockWorkspace', Record<never, never>>
  | Message<'ExpireLock', { now: Timestamp }>;

const lease = (expiresAt: Timestamp): LockEvent => ({ type: 'WorkspaceLockLeased', data: { expiresAt } });

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

/** Returns what happens to the state versions of a lock that does not wait for an upload. */
export const decideForcedEnd = ({ stateHead }: ActiveWorkspace): readonly StateEvent[] => [
  ...decideDiscard(stateHead),
  ...decidePromotion(stateHead),
];

const isLocked = (state: ActiveWorkspace): state is ActiveWorkspace & { readonly lock: WorkspaceLockState } =>
  state.lock !== null;

export const lockDecisions: HandlersByType<LockCommand, [state: ActiveWorkspace], readonly (LockEvent | StateEvent)[]> =
  {
    LockWorkspace: ({ holder, reason, expiresAt, isImported = false, ...refusable }, state) => {
      if (state.lock && !(isImported && state.lock.holder.id === holder.id))
        throw describeLockConflict(state.lock, refusable, 'Unable to lock workspace. The workspace is already');
      return [{ type: 'WorkspaceLocked', data: { holder, reason } }, ...(expiresAt === null ? [] : [lease(expiresAt)])];
    },
    RenewLock: ({ holder, expiresAt, ...refusable }, state) => {
      if (!isLocked(state)) throw conflict('Unable to renew the lock. The workspace is not locked');
      if (state.lock.holder.id !== holder.id) {
        throw describeLockConflict(state.lock, refusable, 'Unable to renew the lock. The workspace is');
      }
      // Holders are people and teams, not programs: a script could otherwise end the lock of terraform with the same token.
      if (state.lock.expiresAt === undefined) {
        throw conflict('Unable to renew the lock. It has no end: unlock it, and lock with expires-in');
      }
      return [lease(expiresAt)];
    },
    UnlockWorkspace: ({ holder, ...refusable }, state) => {
      if (!isLocked(state)) throw conflict('Unable to unlock workspace. The workspace is not locked');
      if (state.lock.holder.id !== holder.id) {
        throw describeLockConflict(state.lock, refusable, 'Unable to unlock workspace. The workspace is');
      }
      if (state.stateHead.latest?.status === 'pending') {
        throw unavailable('Unable to unlock workspace. The latest state version is still pending', 1);
      }
      return [
        ...decidePromotion(state.stateHead),
        { type: 'WorkspaceUnlocked', data: { holder: state.lock.holder, forced: false } },
      ];
    },
    ForceUnlockWorkspace: (_, state) => {
      if (!isLocked(state)) throw conflict('Unable to force-unlock workspace. The workspace is not locked');
      return [
        ...decideForcedEnd(state),
        { type: 'WorkspaceUnlocked', data: { holder: state.lock.holder, forced: true } },
      ];
    },
    // The holder may have unlocked the workspace or renewed the lease first.
    ExpireLock: ({ now }, state) =>
      state.lock?.expiresAt !== undefined && state.lock.expiresAt <= now
        ? [...decideForcedEnd(state), { type: 'WorkspaceLockExpired', data: { holder: state.lock.holder } }]
        : [],
  };

/** Returns the workspace after the end of its lock. */
export const unlock = (state: ActiveWorkspace): ActiveWorkspace => ({
  ...state,
  lock: null,
  stateHead: releaseHead(state.stateHead),
});

const endLock = (state: WorkspaceState): WorkspaceState => (state.status === 'active' ? unlock(state) : state);

export const lockEvolutions: HandlersByType<LockEvent, [state: WorkspaceState], WorkspaceState> = {
  WorkspaceLocked: ({ holder, reason }, state) =>
    state.status === 'active' ? { ...state, lock: { holder, reason } } : state,
  WorkspaceLockLeased: ({ expiresAt }, state) =>
    state.status === 'active' && state.lock ? { ...state, lock: { ...state.lock, expiresAt } } : state,
  WorkspaceUnlocked: (_, state) => endLock(state),
  WorkspaceLockExpired: (_, state) => endLock(state),
};
