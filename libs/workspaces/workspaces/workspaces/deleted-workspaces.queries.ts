import { notFound, sql } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import { buildSnapshotJson, type StreamSnapshot, type StreamVersion } from '#storage/event-store';
import {
  requireCurrentAccess,
  selectProjectGrants,
  selectWorkspaceGrants,
  type Actor,
  type Grant,
  type PermissionScope,
} from '#api/access';
import { isPoolUsableBy } from '#organizations/agents';
import { selectFixedKeys } from '#organizations/tag-bindings';
import type { FixedTagKey } from '../tags/tags.js';

/** What a decision about a deleted workspace needs besides the state of its stream. */
export type DeletedWorkspaceForCommand = PermissionScope & {
  readonly id: string;
  readonly organization: string;
  readonly isForced: boolean;
  readonly allowsForceDelete: boolean;
  /** The project to which the workspace comes back: its own, or the default project if its own is gone. */
  readonly project: string;
  readonly projectName: string;
  /** Whether its own project is gone. */
  readonly isMoved: boolean;
  /** Access of the caller's teams to `project`. */
  readonly projectGrants: readonly Grant[];
  /** Null if the workspace has no agent pool, or may not use it. */
  readonly pool: StreamVersion | null;
  readonly sshKey: StreamVersion | null;
  readonly fixed: readonly FixedTagKey[];
  readonly organizationVersion: number;
  readonly projectVersion: number;
  readonly snapshot: StreamSnapshot;
};

/** Deleted workspaces, and the existing ones, whose recovery is refused with a reason. */
const WORKSPACES = sql.raw(`(
  select id, organization, project, forced, contents -> 'settings' as settings, contents ->> 'agent_pool' as agent_pool,
         contents ->> 'ssh_key' as ssh_key
    from deleted_workspaces
   union all
  select id, organization, project, false, settings, agent_pool, ssh_key from workspaces)`);

const POOL = sql`(
  select jsonb_build_object('stream', sa.stream, 'version', sa.version)
    from agent_pools ap join event_store.streams sa on sa.stream = ap.id
   where ap.id = d.agent_pool and ap.organization = d.organization
     and ${isPoolUsableBy({ workspace: sql.raw('d.id'), project: sql.raw('p.id') })})`;

const SSH_KEY = sql.raw(`(
  select jsonb_build_object('stream', sk.stream, 'version', sk.version)
    from ssh_keys k join event_store.streams sk on sk.stream = k.id
   where k.id = d.ssh_key and k.organization = d.organization)`);

/** Returns the deleted workspace. Throws `not-found` if it does not exist or was purged. */
export const loadDeletedWorkspace = async (
  database: Database,
  actor: Actor,
  id: string,
): Promise<DeletedWorkspaceForCommand> => {
  const row = await database.row<DeletedWorkspaceForCommand>(sql`
    select d.id, d.organization, d.forced as "isForced", (o.settings ->> 'allowForceDeleteWorkspaces')::boolean as "allowsForceDelete",
           ${selectWorkspaceGrants(actor, 'd')} as grants, p.id as project, p.name as "projectName",
           p.id <> d.project as "isMoved", ${selectProjectGrants(actor, sql.raw('p.id'))} as "projectGrants",
           ${POOL} as pool, ${SSH_KEY} as "sshKey", ${selectFixedKeys(sql.raw('p.id'))} as fixed,
           so.version as "organizationVersion", sp.version as "projectVersion", ${buildSnapshotJson('s')} as snapshot
      from ${WORKSPACES} d join organizations o on o.id = d.organization
      join lateral (select * from projects where id in (d.project, o.default_project)
                     order by id = d.project desc limit 1) p on true
      join event_store.streams s on s.stream = d.id
      join event_store.streams so on so.stream = d.organization
      join event_store.streams sp on sp.stream = p.id
     where d.id = ${id} and ${requireCurrentAccess(actor)}`);
  if (!row) throw notFound();
  return row;
};
