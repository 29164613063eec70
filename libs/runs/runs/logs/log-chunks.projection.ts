import { sql, type OrganizationDeleted, type Projection, type WorkspaceDeleted } from '#platform/kernel';

/**
 * Deletes the chunks of logs with their workspaces and organizations. It has no tables, because chunks are not a view. The
 * sweeper of run files deletes the logs in files.
 */
export const runLogChunks: Projection<OrganizationDeleted | WorkspaceDeleted> = {
  name: 'run_log_chunks',
  tables: [],
  on: {
    WorkspaceDeleted: (_, { stream }) => sql`delete from runs.log_chunks where workspace = ${stream}`,
    OrganizationDeleted: (_, { stream }) => sql`delete from runs.log_chunks where organization = ${stream}`,
  },
};
