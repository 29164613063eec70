import { sql } from '#platform/kernel';
import { buildSnapshotJson, type StreamSnapshot } from '#storage/event-store';
import type { Database } from '#platform/postgres';
import {
  requirePermittedRow,
  requireCurrentAccess,
  selectProjectGrants,
  selectWorkspaceGrants,
  type Actor,
  type PermissionScope,
} from '#api/access';
import { selectFixedKeys } from '#organizations/tag-bindings';
import { inheritsDuration } from '../settings/auto-destroy.queries.js';
import type { FixedTagKey } from '../tags/tags.js';

/** The target project of a move, and the requested workspaces that its organization has. */
type WorkspaceMove = PermissionScope & {
  readonly organization: string;
  readonly organizationVersion: number;
  readonly projectVersion: number;
  /** Keys that workspaces of the project may not bind. */
  readonly fixed: readonly FixedTagKey[];
  readonly workspaces: readonly WorkspaceToMove[];
};

export type WorkspaceToMove = PermissionScope & {
  readonly id: string;
  /** Whether the target project decides when its resources are destroyed. */
  readonly inheritsDestroy: boolean;
  readonly snapshot: StreamSnapshot;
};

export const loadWorkspaceMove = async (
  database: Database,
  actor: Actor,
  project: string,
  workspaces: readonly string[],
): Promise<WorkspaceMove> => {
  const row = await database.row<WorkspaceMove>(sql`
    select p.organization, so.version as "organizationVersion", sp.version as "projectVersion",
           ${selectProjectGrants(actor, sql.raw('p.id'))} as grants, ${selectFixedKeys(sql.raw('p.id'))} as fixed,
           coalesce((
             select jsonb_agg(jsonb_build_object(
                      'id', w.id, 'organization', w.organization,
                      'grants', ${selectWorkspaceGrants(actor, 'w')},
                      'inheritsDestroy', w.project <> p.id and ${inheritsDuration(sql.raw('p.id'))},
                      'snapshot', ${buildSnapshotJson('s')})
                      -- In one order: of several that are refused it is always the same that is told.
                      order by w.id)
               from workspaces w join event_store.streams s on s.stream = w.id
              where w.organization = p.organization and w.id = any (${workspaces}::text[])), '[]') as workspaces
      from projects p
      join event_store.streams sp on sp.stream = p.id join event_store.streams so on so.stream = p.organization
     where p.id = ${project} and ${requireCurrentAccess(actor)}`);
  return requirePermittedRow(actor, 'move-workspace', row);
};
