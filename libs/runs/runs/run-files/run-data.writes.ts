import { decideWrite, type EventStore, type StreamSnapshot, type StreamWrite } from '#storage/event-store';
import { run } from '../runs/run.js';

/** A run that has ended, with its snapshot, as the caller's own statement read it. */
type EndedRun = { readonly id: string; readonly organization: string; readonly snapshot: StreamSnapshot | null };

/** Prepares the deletion of the logs and documents of a run. The sweeper of run files then removes its files. */
export const prepareRunDataDeletion = async (
  store: EventStore,
  { id, organization, snapshot }: EndedRun,
): Promise<StreamWrite> =>
  decideWrite(run, await store.restore(id, run, snapshot), organization, { type: 'DeleteRunData', data: {} });
