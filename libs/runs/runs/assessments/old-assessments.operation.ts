import { Refusal, sql, type EventContext } from '#platform/kernel';
import type { EventStore } from '#storage/event-store';
import { changeForJob } from '../runs/change-run.operation.js';
import { isAssessment } from '../runs/runs.queries.js';
import { hasResult } from './assessments.view.js';

/** The newest assessments with a result of each workspace, whose logs and documents are kept. */
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

/** Deletes the logs and documents of older and of canceled assessments of the workspace to which this one belongs. */
export const removeOldData = async (store: EventStore, run: string, context: EventContext): Promise<void> => {
  const old = await store.database.rows<{ id: string }>(sql`
    select a.id
      from runs a join workspaces w on w.id = a.workspace
     where a.workspace = (select r.workspace from runs r where r.id = ${run})
       and ${isAssessment('a')} and a.kept_since is not null and a.data_deleted_at is null
       and a.id not in (select newest.id from runs newest
                         where newest.workspace = a.workspace and ${isAssessment('newest')} and ${hasResult('newest')}
                         order by newest.created_at desc, newest.id desc limit ${MAX_DOCUMENTED})
     order by a.created_at, a.id limit ${MAX_REMOVED}`);
  for (const { id } of old) await removeData(store, id, context);
};
