import type { ActingPrincipal } from '#api/access/rules';
import type { Message, RecoverableState, Tag, Timestamp } from '#platform/kernel';
import type { WorkspaceSettings } from '../settings/workspace-settings.js';

export type WorkspaceSshKeyEvent =
  Message<'WorkspaceSshKeyAssigned', { key: string }> | Message<'WorkspaceSshKeyUnassigned', { key: string }>;

/**
 * The state that the deciders of a workspace share. Their rules are in workspace.ts, lock.ts, state-head.ts, tags.ts
 * and remote-state-consumers.ts.
 */
export type WorkspaceLockState = {
  readonly holder: ActingPrincipal;
  readonly reason: string;
  /** When the lock ends by itself; missing if it does not. */
  readonly expiresAt?: Timestamp;
};

export type StateVersion = {
  readonly id: string;
  readonly serial: number;
  readonly lineage: string | null;
  readonly md5: string;
  readonly status: 'pending' | 'finalized';
  /** Whether the lock under which it was created is still held. */
  readonly isOfThisLock: boolean;
};

export type FinalizedStateVersion = {
  readonly version: StateVersion;
  readonly resources: number;
  /** Null if the file has none, and for versions that were finalized before the event contained it. */
  readonly lineageOfFile: string | null;
};

export type StateHead = {
  readonly latest: StateVersion | null;
  /** The newest finalized version: unlocking makes it current, and it stays if `latest` is discarded. */
  readonly finalized: FinalizedStateVersion | null;
  readonly current: string | null;
  /** Number of managed resources in the current version. */
  readonly resources: number;
};

export const NO_STATE: StateHead = { latest: null, finalized: null, current: null, resources: 0 };

export type ActiveWorkspace = {
  readonly status: 'active';
  readonly project: string;
  readonly name: string;
  readonly settings: WorkspaceSettings;
  readonly tags: readonly Tag[];
  /** The SSH key that was assigned last. It may have been deleted since: this stream gets no event of that. */
  readonly sshKey: string | null;
  readonly lock: WorkspaceLockState | null;
  readonly stateHead: StateHead;
};

/** A deleted workspace is kept as it was, unlocked. */
export type WorkspaceState = RecoverableState<ActiveWorkspace>;
