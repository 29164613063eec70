import { hasOneOfNames, sql, type ExecutionMode, type Sql, type Tag, type Timestamp } from '#platform/kernel';
import { buildSnapshotJson, type StreamSnapshot } from '#storage/event-store';
import type { Database } from '#platform/postgres';
import {
  buildVisibleWorkspaceCount,
  requirePermittedRow,
  requireCurrentAccess,
  selectProjectGrants,
  isGrantedOnProject,
  isGrantedProject,
  isPermittedByRole,
  selectPermittedOrganization,
  PROJECT_NAMES,
  toPermittedPage,
  type Actor,
  type Grant,
  type Identity,
  type Permission,
} from '#api/access';
import { buildLimit, selectStoredAttributes, type ListPage, type ListRow, type PageRequest } from '#api/json-api';
import { selectUsablePoolVersion } from '#organizations/agents';
import { isVisibleTeam } from '#identity/people';
import { PROJECT_TAGS, type TagFilterTerm } from '#organizations/tag-bindings';
import { PROJECT_SETTINGS, type ProjectSettings } from './project-settings.js';

export type ProjectRow = {
  readonly id: string;
  readonly organization: string;
  readonly organizationName: string;
  readonly isDefault: boolean;
  readonly name: string;
  readonly description: string | null;
  readonly settings: ProjectSettings;
  readonly createdAt: Timestamp;
  /** Mode and pool of the organization, which apply if the project has no mode of its own. */
  readonly inherited: { readonly executionMode: ExecutionMode; readonly agentPoolId: string | null };
  /** Number of workspaces in the project that the caller may read. */
  readonly workspaceCount: number;
  /** Number of teams with access to the project that the caller may see. */
  readonly teamCount: number;
  readonly tags: readonly Tag[];
  /** Access of the caller's teams to the project. */
  readonly grants: readonly Grant[];
};

const COLUMNS = sql`p.id, p.organization, o.name as "organizationName", o.default_project = p.id as "isDefault",
  p.name, p.description, ${selectStoredAttributes(PROJECT_SETTINGS, 'p.settings')} as settings, p.created_at as "createdAt",
  jsonb_build_object('executionMode', o.settings -> 'defaultExecutionMode',
                     'agentPoolId', o.settings -> 'defaultAgentPool') as inherited,
  ${PROJECT_TAGS} as tags`;
const ALL_WORKSPACES = sql.raw(`(select coalesce(sum(c.workspaces), 0)::bigint from workspace_counts c
    where c.organization = p.organization and c.project = p.id)`);
const FROM = sql.raw('from projects p join organizations o on o.id = p.organization');

const buildProjectWorkspaceCount = (actor: Identity): Sql =>
  buildVisibleWorkspaceCount(actor, {
    organization: sql.raw('p.organization'),
    project: sql.raw('p.id'),
    all: ALL_WORKSPACES,
  });

const selectVisibleTeamCount = (actor: Identity): Sql => sql`
  (select count(*) from team_projects tp join teams t on t.id = tp.team where tp.project = p.id and ${isVisibleTeam(actor)})`;

/** Returns the columns of a project with the caller's counts and grants. */
const selectColumns = (actor: Identity): Sql => sql`
  ${COLUMNS}, ${buildProjectWorkspaceCount(actor)} as "workspaceCount", ${selectVisibleTeamCount(actor)} as "teamCount",
  ${selectProjectGrants(actor, sql.raw('p.id'))} as grants`;

export const selectProjectById = (id: string, actor: Identity): Sql =>
  sql`select ${selectColumns(actor)} ${FROM} where p.id = ${id}`;

export const selectProjectsByIds = (ids: Sql, actor: Identity): Sql =>
  sql`select ${selectColumns(actor)} ${FROM} where p.id = any (${ids}) order by p.id`;

export type ProjectForCommand = ProjectRow & {
  /** Version of the agent pool in the command; null if it is not a pool that the project may use. */
  readonly poolVersion: number | null;
  readonly organizationVersion: number;
  /** Number of all workspaces in the project, also of those that the caller may not read. */
  readonly allWorkspaces: number;
  readonly snapshot: StreamSnapshot;
};

/**
 * Returns the project, from one statement. Throws the refusal of the permission table if the caller lacks the
 * permission.
 */
export const findProject = async (
  database: Database,
  actor: Actor,
  permission: Permission,
  id: string,
  pool: string | null = null,
): Promise<ProjectForCommand> => {
  const choice = { pool, organization: sql.raw('p.organization'), project: sql.raw('p.id') };
  const row = await database.row<ProjectForCommand>(sql`
    select ${selectColumns(actor)}, ${selectUsablePoolVersion(choice)} as "poolVersion", ${ALL_WORKSPACES} as "allWorkspaces",
           (select so.version from event_store.streams so where so.stream = p.organization) as "organizationVersion",
           ${buildSnapshotJson('s')} as snapshot
      ${FROM} join event_store.streams s on s.stream = p.id where p.id = ${id} and ${requireCurrentAccess(actor)}`);
  return requirePermittedRow(actor, permission, row);
};

export type ProjectFilter = {
  readonly names: readonly string[];
  readonly search: string | undefined;
  /** Only projects in which the caller may create workspaces. */
  readonly createsWorkspaces: boolean;
  /** Only projects that the caller may update. */
  readonly updates: boolean;
  /** Tags that a project must have, all of them. */
  readonly tagged: readonly TagFilterTerm[];
  readonly descending: boolean;
};

const isTaggedWithAll = (tagged: readonly TagFilterTerm[]): Sql => sql`not exists (
  select 1 from unnest(${tagged.map(({ key }) => key)}::text[], ${tagged.map(({ value }) => value)}::text[])
                as required (key, value)
   where not exists (select 1 from project_tags t where t.project = p.id and (required.key is null or t.key = required.key)
                        and (required.value is null or t.value = required.value)))`;

/** Returns one page of projects and the count of all, from one statement. */
export const listProjects = async (
  database: Database,
  actor: Actor,
  organizationName: string,
  page: PageRequest,
  filter: ProjectFilter,
): Promise<ListPage<ProjectRow>> => {
  const where = sql.and([
    sql`p.organization = owner.id`,
    sql`(owner.whole or ${isGrantedProject(actor, sql.raw('p.id'))})`,
    ...(filter.createsWorkspaces
      ? [sql`(owner.creates or ${isGrantedOnProject(actor, 'create-workspace', sql.raw('p.id'))})`]
      : []),
    ...(filter.updates
      ? [sql`(owner.updates or ${isGrantedOnProject(actor, 'update-project', sql.raw('p.id'))})`]
      : []),
    ...(filter.names.length > 0 ? [hasOneOfNames(PROJECT_NAMES, 'p', filter.names)] : []),
    ...(filter.tagged.length > 0 ? [isTaggedWithAll(filter.tagged)] : []),
    ...(filter.search ? [sql`position(lower(${filter.search}) in lower(p.name)) > 0`] : []),
  ]);
  const direction = sql.raw(filter.descending ? 'desc' : 'asc');
  // Ignores case, as clients expect. Names that differ only in case have a fixed order too.
  const buildOrder = (name: Sql): Sql => sql`lower(${name}) collate "C" ${direction}, ${name} ${direction}`;
  const rows = await database.slowRows<ListRow<ProjectRow, { owner: string; total: number }>>(
    actor,
    sql`
    select owner.id as owner, (select count(*) from projects p where ${where}) as total, page.*
      from (select id, ${isPermittedByRole(actor, 'read-project')} as whole,
                   ${isPermittedByRole(actor, 'create-workspace')} as creates,
                   ${isPermittedByRole(actor, 'update-project')} as updates
              from ${selectPermittedOrganization(actor, 'read-organization', organizationName)} offset 0) owner
      left join lateral (select ${selectColumns(actor)} ${FROM} where ${where}
                          order by ${buildOrder(sql.raw('p.name'))} ${buildLimit(page)}) page on true
     order by ${buildOrder(sql.raw('page.name'))}`,
  );
  return toPermittedPage(actor, 'read-organization', rows);
};
