import { sql, type OrganizationDeleted, type Projection, type WorkspaceDeleted } from '#platform/kernel';

/**
 * Deletes leases with their workspaces and organizations, because they count as runs in progress. It has no tables, because leases
 * are not a view. List it before the projection of runs: it finds the runs of a workspace by their rows.
 */
export const runLeases: Projection<WorkspaceDeleted | OrganizationDeleted> = {
  name: 'run_leases',
  tables: [],
  on: {
    WorkspaceDeleted: (_, { stream }) =>
      sql`delete from runs.leases where run in (select id from runs where workspace = ${stream})`,
    OrganizationDeleted: (_, { stream }) => [
      sql`delete from runs.leases where organization = ${stream}`,
      sql`delete from runs.claim_turns where organization = ${stream}`,
    ],
  },
};
