import { sql, type OrganizationDeleted, type Projection, type WorkspaceDeleted } from '#platform/kernel';
import { onRunEnd, type RunEndEvent } from '../runs/run-ends.js';

/** Deletes the values of a run when it ends. It has no tables, because values are not a view. */
export const jobValues: Projection<RunEndEvent | WorkspaceDeleted | OrganizationDeleted> = {
  name: 'run_job_values',
  tables: [],
  on: {
    ...onRunEnd((run) => sql`delete from runs.job_values where run = ${run}`),
    WorkspaceDeleted: (_, { stream }) => sql`delete from runs.job_values where workspace = ${stream}`,
    OrganizationDeleted: (_, { stream }) => sql`delete from runs.job_values where organization = ${stream}`,
  },
};
