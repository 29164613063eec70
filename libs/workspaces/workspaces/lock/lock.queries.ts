import { sql, type Sql, type Timestamp } from '#platform/kernel';
import { buildSnapshotJson, type StreamSnapshot } from '#storage/event-store';
import type { Identity } from '#api/access';
import { isHiddenTeam } from '#identity/people';

/** The facts that a decision about the lock needs, from the row `w` of workspaces. */
export type LockSnapshot = StreamSnapshot & {
  readonly lockedSince: Timestamp | null;
  /** Whether a team holds the lock that the caller may not see, such as a secret one. */
  readonly isHolderHidden: boolean;
};

const HOLDER = sql.raw(`(w.lock -> 'holder')`);

/** With `actor` null, no caller reads the refusal. */
export const buildLockSnapshotJson = (actor: Identity | null): Sql => {
  const isHidden = actor ? isHiddenTeam(actor, HOLDER, sql.raw('w.organization')) : sql`true`;
  return sql`(
  select ${buildSnapshotJson('its', { lockedSince: `w.lock -> 'at'` })} || jsonb_build_object('isHolderHidden', ${isHidden})
    from event_store.streams its where its.stream = w.id)`;
};
