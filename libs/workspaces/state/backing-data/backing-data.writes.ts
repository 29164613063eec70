import { sql } from '#platform/kernel';
import { decideWrite, type EventStore, type StreamSnapshot, type StreamWrite } from '#storage/event-store';
import { backingData } from './backing-data.js';

/**
 * Condition on the rows `v` of state_versions and `w` of its workspace: `v` is the current version, or the newest
 * finalized one, which becomes current when the workspace is unlocked.
 */
export const IS_STATE_NEEDED = sql.raw(`(v.id is not distinct from w.current_state_version
  or not exists (select 1 from state_versions newer
                  where newer.workspace = v.workspace and newer.created_in > v.created_in
                    and newer.finalized_at is not null))`);

/** A finalized version that is not needed, with its snapshot. The caller reads it with a statement of its own. */
export type DispensableStateVersion = {
  readonly id: string;
  readonly workspace: string;
  readonly organization: string;
  readonly snapshot: StreamSnapshot | null;
};

/** Returns the write that permanently deletes soft-deleted data. */
export const preparePermanentDeletion = async (
  store: EventStore,
  { id, workspace, organization, snapshot }: DispensableStateVersion,
): Promise<StreamWrite> => {
  const loaded = await store.restore(id, backingData, snapshot ?? undefined);
  return decideWrite(backingData, loaded, organization, { type: 'DeleteDataPermanently', data: { workspace } });
};

/**
 * Returns the write that soft-deletes the data. The caller must append it with the workspace's version as a
 * precondition, because the workspace may need the version later.
 */
export const prepareSoftDeletion = async (
  store: EventStore,
  { id, workspace, organization, snapshot }: DispensableStateVersion,
): Promise<StreamWrite> => {
  const loaded = await store.restore(id, backingData, snapshot ?? undefined);
  const data = { workspace, isFinalized: true, isNeeded: false };
  return decideWrite(backingData, loaded, organization, { type: 'SoftDeleteData', data });
};
