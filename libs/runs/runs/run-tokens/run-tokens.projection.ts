import { sql, type Projection, type RecordedEvent, type Sql, type WorkspaceDeleted } from '#platform/kernel';
import { buildTokenHashDeletion } from '#identity/people';
import { isFinal } from '../runs/run-status.js';
import type { RunEvent } from '../runs/run-event.js';

type RunEndEvent = Extract<
  RunEvent,
  {
    type:
      | 'RunStageReached'
      | 'RunPlanRequeued'
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
 * Deletes the hashes of a run's tokens when the run ends or loses its executor. It has no tables of its own, because hashes are not a view.
 * List it before the projection that deletes the rows of runs: it finds the runs of a workspace by those rows. The
 * tokens of an organization are deleted with the organization.
 */
export const runTokens: Projection<RunEndEvent | WorkspaceDeleted> = {
  name: 'run_tokens',
  tables: [],
  on: {
    RunStageReached: ({ stage }, event) => (isFinal(stage) ? deleteRunTokens(stage, event) : null),
    // The executor that is lost may still have one.
    RunPlanRequeued: deleteRunTokens,
    RunPlannedAndFinished: deleteRunTokens,
    RunApplied: deleteRunTokens,
    RunErrored: deleteRunTokens,
    RunDiscarded: deleteRunTokens,
    RunCanceled: deleteRunTokens,
    RunForceCanceled: deleteRunTokens,
    WorkspaceDeleted: (_, { stream }) => buildTokenHashDeletion(sql`select id from runs where workspace = ${stream}`),
  },
};
