import { sql, type Projection, type RecordedEvent, type Sql, type WorkspaceDeleted } from '#platform/kernel';
import { buildTokenHashDeletion } from '#identity/people';
import type { RunEvent } from '../runs/run-event.js';
import { onRunEnd, type RunEndEvent } from '../runs/run-ends.js';

type LostExecutorEvent = Extract<RunEvent, { type: 'RunPlanRequeued' }>;

const deleteRunTokens = (run: string): Sql => buildTokenHashDeletion(sql`${run}`);

/**
 * Deletes the hashes of a run's tokens when the run ends or loses its executor, which may still have one. It has no tables
 * of its own, because hashes are not a view. List it before the projection that deletes the rows of runs: it finds the runs
 * of a workspace by those rows. The tokens of an organization are deleted with the organization.
 */
export const runTokens: Projection<RunEndEvent | LostExecutorEvent | WorkspaceDeleted> = {
  name: 'run_tokens',
  tables: [],
  on: {
    ...onRunEnd(deleteRunTokens),
    RunPlanRequeued: (_, { stream }: RecordedEvent) => deleteRunTokens(stream),
    WorkspaceDeleted: (_, { stream }) => buildTokenHashDeletion(sql`select id from runs where workspace = ${stream}`),
  },
};
