import { sql } from '#kernel';
import { decideWrite, type EventStore, type StreamSnapshot, type StreamWrite } from '#event-store';
import { backingData } from './backing-data.js';

/**
 * Over the rows `v` of state_versions and `w` of its workspace: whether it is the current one, or the newest that is
 * finalized, which will be as soon as the workspace is unlocked.
 */
export const IS_STATE_NEEDED = sql.raw(`(v.id is not distinct from w.current_state_version
  or not exists (select 1 from state_versions newer
                  where newer.workspace = v.workspace and newer.created_in > v.created_in
                    and newer.finalized_at is not null))`);

/** A finalized version that is not needed, with its snapshot, read with a statement of the caller's own. */
export type DispensableStateVersion = {
  readonly id: string;
  readonly workspace: string;
  readonly organization: string;
  readonly snapshot: StreamSnapshot | null;
};

/** The permanent deletion of data that is soft-deleted. */
export const preparePermanentDeletion = async (
  store: EventStore,
  { id, workspace, organization, snapshot }: DispensableStateVersion,
): Promise<StreamWrite> => {
  const loaded = await store.restore(id, backingData, snapshot ?? undefined);
  return decideWrite(backingData, loaded, organization, { type: 'DeleteDataPermanently', data: { workspace } });
};

/** The soft deletion of its data. Whoever appends it holds the workspace, which may come to need the version. */
export const prepareSoftDeletion = async (
  store: EventStore,
  { id, workspace, organization, snapshot }: DispensableStateVersion,
): Promise<StreamWrite> => {
  const loaded = await store.restore(id, backingData, snapshot ?? undefined);
  const data = { workspace, isFinalized: true, isNeeded: false };
  return decideWrite(backingData, loaded, organization, { type: 'SoftDeleteData', data });
};
