import { sql, type Projection, type RecordedEvent, type Sql, type WorkspaceDeleted } from '#kernel';
import { buildTokenHashDeletion } from '#people';
import { isFinal } from '../runs/run-status.js';
import type { RunEvent } from '../runs/run-event.js';

type RunEndEvent = Extract<
  RunEvent,
  {
    type:
      | 'RunStageReached'
      | 'RunPlannedAndFinished'
      | 'RunApplied'
      | 'RunErrored'
      | 'RunDiscarded'
      | 'RunCanceled'
      | 'RunForceCanceled';
  }
>;

const deleteRunTokens = (_: unknown, { stream }: RecordedEvent): Sql => buildTokenHashDeletion(sql`${stream}`);

/**
 * A run's tokens open nothing from its end on. No tables, for their hashes are no view; listed before the projection that
 * deletes the runs' rows, by which those of a workspace are found. An organization's go with it.
 */
export const runTokens: Projection<RunEndEvent | WorkspaceDeleted> = {
  name: 'run_tokens',
  tables: [],
  on: {
    RunStageReached: ({ stage }, event) => (isFinal(stage) ? deleteRunTokens(stage, event) : null),
    RunPlannedAndFinished: deleteRunTokens,
    RunApplied: deleteRunTokens,
    RunErrored: deleteRunTokens,
    RunDiscarded: deleteRunTokens,
    RunCanceled: deleteRunTokens,
    RunForceCanceled: deleteRunTokens,
    WorkspaceDeleted: (_, { stream }) => buildTokenHashDeletion(sql`select id from runs where workspace = ${stream}`),
  },
};
