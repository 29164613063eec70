import type { Person } from '#access/rules';
import { conflict, unavailable, type Message, type Refused, type Table, type Timestamp } from '#kernel';
import { describeHolder } from './holder.js';
import { discarding, promotion, withoutLock, type StateEvent } from './state-head.js';
import type { ActiveWorkspace, Lock, Workspace } from './workspace-state.js';

/**
 * The lock of a workspace.
 *
 *   unlocked ──lock──► locked ──unlock (by its holder), force-unlock (by an admin)──► unlocked
 *
 * Unlocking makes the latest finalized state version current; while one is still being uploaded it must wait. Force does
 * not wait: the version that is still pending is discarded.
 */
export type LockEvent =
  | Message<'WorkspaceLocked', { holder: Person; reason: string }>
  | Message<'WorkspaceUnlocked', { holder: Person; forced: boolean }>;

/** What may be refused because somebody holds the lock, as it is asked for. */
export type LockWish =
  Message<'LockWorkspace', { holder: Person; reason: string }> | Message<'UnlockWorkspace', { holder: Person }>;

/** Facts about the lock that a refusal needs and the state does not have: its time, and whether the caller may see its holder. */
type Refusable = { readonly lockedSince: Timestamp | null; readonly isHolderHidden: boolean };

type Decidable<W> = W extends Message<infer Type, infer Data> ? Message<Type, Data & Refusable> : never;

export type LockCommand = Decidable<LockWish> | Message<'ForceUnlockWorkspace', Record<never, never>>;

const unlocked = (
  { lock, stateHead }: ActiveWorkspace & { readonly lock: Lock },
  forced: boolean,
): readonly (LockEvent | StateEvent)[] => [
  ...promotion(stateHead),
  { type: 'WorkspaceUnlocked', data: { holder: lock.holder, forced } },
];

/** Who holds it, since when and why: for people after the words that clients look for, and as data. */
const heldBy = (
  { holder, reason }: Lock,
  { lockedSince: since, isHolderHidden }: Refusable,
  refusal: string,
): Refused => {
  // A reason is anybody's text, and must not be taken for those words.
  const why = reason === '' || reason.includes('is locked by') ? '' : `: ${reason}`;
  const detail = `${refusal} ${describeHolder(holder, isHolderHidden)}${since === null ? '' : ` since ${since}`}${why}`;
  const shown = isHolderHidden ? { ...holder, name: null } : holder;
  return conflict(detail, { lock: { holder: shown, since, reason } });
};

const isLocked = (state: ActiveWorkspace): state is ActiveWorkspace & { readonly lock: Lock } => state.lock !== null;

export const lockDecisions: Table<LockCommand, [state: ActiveWorkspace], readonly (LockEvent | StateEvent)[]> = {
  LockWorkspace: ({ holder, reason, ...refusable }, state) => {
    if (state.lock) throw heldBy(state.lock, refusable, 'Unable to lock workspace. The workspace is already');
    return [{ type: 'WorkspaceLocked', data: { holder, reason } }];
  },
  UnlockWorkspace: ({ holder, ...refusable }, state) => {
    if (!isLocked(state)) throw conflict('Unable to unlock workspace. The workspace is not locked');
    if (state.lock.holder.id !== holder.id) {
      throw heldBy(state.lock, refusable, 'Unable to unlock workspace. The workspace is');
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
  WorkspaceUnlocked: (_, state) =>
    state.status === 'active' ? { ...state, lock: null, stateHead: withoutLock(state.stateHead) } : state,
};
