import { sql, type OrganizationDeleted, type Projection, type WorkspaceDeleted } from '#platform/kernel';
import type { RunEvent } from '../runs/run-event.js';
import { toRunId } from '../runs/runs.document.js';

type RunDataDeleted = Extract<RunEvent, { type: 'RunDataDeleted' }>;

/**
 * Deletes the chunks of workspaces and organizations, and of runs whose data retention policy is due. It has no tables, because chunks are
 * not a view. The sweeper of run files deletes the logs in files. List it after the projection of runs, which locks the row of the
 * run: an append of output that has locked it before ends first, and its chunks are deleted too.
 */
export const runLogChunks: Projection<OrganizationDeleted | WorkspaceDeleted | RunDataDeleted> = {
  name: 'run_log_chunks',
  tables: [],
  on: {
    RunDataDeleted: (_, { stream }) => sql`delete from runs.log_chunks where run = ${stream}`,
    WorkspaceDeleted: (_, { stream }) => sql`delete from runs.log_chunks where workspace = ${stream}`,
    OrganizationDeleted: (_, { stream }) => sql`delete from runs.log_chunks where organization = ${stream}`,
  },
};

/** Returns the ids of the resources that a row of `runs.log_chunks` belongs to. A row that contradicts itself belongs to nothing. */
export const listChunkOwners = ({
  id,
  phase,
  start,
  run,
  workspace,
}: Readonly<Record<string, unknown>>): readonly unknown[] => {
  const name = String(phase).startsWith('plan-') ? 'plan' : 'apply';
  return [run, workspace, id === `${String(phase)}/${String(start)}` ? toRunId(String(phase), name) : null];
};
