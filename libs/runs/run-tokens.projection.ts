import { sql, type Projection, type Recorded, type Sql, type WorkspaceDeleted } from '#kernel';
import { forgetTokens } from '#people';
import { isFinal } from './run-status.js';
import type { RunEvent } from './run-event.js';

type Ending = Extract<
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

const ended = (_: unknown, { stream }: Recorded): Sql => forgetTokens(sql`${stream}`);

/**
 * A run's tokens open nothing from its end on. No tables, for their hashes are no view; listed before the projection that
 * deletes the runs' rows, by which those of a workspace are found. An organization's go with it.
 */
export const runTokens: Projection<Ending | WorkspaceDeleted> = {
  name: 'run_tokens',
  tables: [],
  on: {
    RunStageReached: ({ stage }, event) => (isFinal(stage) ? ended(stage, event) : null),
    RunPlannedAndFinished: ended,
    RunApplied: ended,
    RunErrored: ended,
    RunDiscarded: ended,
    RunCanceled: ended,
    RunForceCanceled: ended,
    WorkspaceDeleted: (_, { stream }) => forgetTokens(sql`select id from runs where workspace = ${stream}`),
  },
};
