import { sql } from '#platform/kernel';
import {
  requireCurrentAccess,
  requirePermission,
  requirePermittedRow,
  selectWorkspaceGrants,
  type Actor,
  type Grant,
} from '#api/access';
import type { Database } from '#platform/postgres';
import { EXECUTION_MODE, type WorkspaceSettings } from '#workspaces/workspaces';

type WorkspaceForPreview = {
  readonly id: string;
  readonly organization: string;
  readonly project: string;
  readonly grants: readonly Grant[];
  /** Rows of earlier versions lack newer settings. */
  readonly settings: Partial<WorkspaceSettings>;
  readonly executionMode: string;
  readonly hasRuns: boolean;
};

/** Returns a workspace whose triggers the caller may change. */
export const findWorkspaceForPreview = async (
  database: Database,
  actor: Actor,
  id: string,
): Promise<WorkspaceForPreview> => {
  const row = await database.row<WorkspaceForPreview>(sql`
    select w.id, w.organization, w.project, ${selectWorkspaceGrants(actor, 'w')} as grants, w.settings,
           ${EXECUTION_MODE} as "executionMode", exists (select 1 from runs r where r.workspace = w.id) as "hasRuns"
      from workspaces w join projects p on p.id = w.project join organizations o on o.id = w.organization
     where w.id = ${id} and ${requireCurrentAccess(actor)}`);
  const readable = requirePermittedRow(actor, 'read-workspace', row);
  requirePermission(actor, 'update-workspace', readable);
  return readable;
};
