import { Refusal, sql, type EventContext } from '#platform/kernel';
import type { EventStore } from '#storage/event-store';
import { changeForJob } from '../runs/change-run.operation.js';
import { isAssessment } from '../runs/runs.queries.js';

/** The newest assessments of each workspace whose logs and documents are kept. */
const MAX_DOCUMENTED = 5;
const MAX_REMOVED = 20;

const removeData = async (store: EventStore, id: string, context: EventContext): Promise<void> => {
  try {
    await changeForJob(store, id, { type: 'DeleteRunData', data: {} }, context);
  } catch (error) {
    // The workspace was deleted.
    if (!(error instanceof Refusal) || error.kind !== 'not-found') throw error;
  }
};

/** Deletes the logs and documents of older assessments of the workspace to which this one belongs. */
export const removeOldData = async (store: EventStore, run: string, context: EventContext): Promise<void> => {
  const old = await store.database.rows<{ id: string }>(sql`
    select id
      from (select a.id, a.data_deleted_at
              from runs a join workspaces w on w.id = a.workspace
             where a.workspace = (select r.workspace from runs r where r.id = ${run})
               and ${isAssessment('a')} and a.kept_since is not null
             order by a.created_at desc, a.id desc offset ${MAX_DOCUMENTED}) old
     where data_deleted_at is null limit ${MAX_REMOVED}`);
  for (const { id } of old) await removeData(store, id, context);
};
