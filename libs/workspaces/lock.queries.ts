import { sql, type Timestamp } from '#kernel';
import { snapshotOf, type Snapshot } from '#event-store';

/** What a decision about the lock wants to know, from the row `w` of workspaces. */
export type LockSnapshot = Snapshot & { readonly lockedSince: Timestamp | null };

export const LOCK_SNAPSHOT = sql`(
  select ${snapshotOf('its', { lockedSince: `w.lock -> 'at'` })} from event_store.streams its where its.stream = w.id)`;
