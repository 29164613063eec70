import {
  sql,
  type Projection,
  type OrganizationDeleted,
  type ProjectEnd,
  whenProjectEnds,
  type WorkspaceEnd,
  whenWorkspaceEnds,
  notFound,
  type Sql,
} from '#platform/kernel';
import type { Database } from '#platform/postgres';
import { selectStreamVersions, buildSnapshotJson, type StreamVersion, type StreamSnapshot } from '#storage/event-store';
import {
  requirePermission,
  requireCurrentAccess,
  selectProjectGrants,
  selectWorkspaceGrants,
  can,
  selectPermittedScopes,
  type Actor,
  type CustomProjectAccess,
  type Grant,
  type Identity,
  type Permission,
  type PermissionScope,
  type ProjectLevel,
  type WorkspaceAccess,
  type WorkspaceLevel,
} from '#api/access';
import type { TeamEvent } from '../teams/team.js';
import { selectTeamScope } from '../teams/teams.queries.js';
import type { TeamProjectEvent } from './team-project.js';
import type { TeamWorkspaceEvent } from './team-workspace.js';
import type { ReferencedTeam } from './team-access.js';
import { canReadTeam, type TeamScope } from './team-permission.js';

/** Events that end access, besides the deletion of the workspace or project. */
type AccessEndEvent = Extract<TeamEvent, { type: 'TeamDeleted' }> | OrganizationDeleted;

const toJsonOrNull = (value: unknown): string | null => (value === null ? null : sql.json(value));

export const teamWorkspaces: Projection<TeamWorkspaceEvent | AccessEndEvent | WorkspaceEnd> = {
  name: 'team_workspaces',
  version: 1,
  tables: ['team_workspaces'],
  on: {
    TeamWorkspaceAdded: ({ team, workspace, access, custom }, { stream, organization, time }) => sql`
      insert into team_workspaces (id, organization, team, workspace, access, custom, created_at)
      values (${stream}, ${organization}, ${team}, ${workspace}, ${access}, ${toJsonOrNull(custom)}, ${time})`,
    TeamWorkspaceUpdated: ({ access, custom }, { stream }) => sql`
      update team_workspaces set access = ${access}, custom = ${toJsonOrNull(custom)} where id = ${stream}`,
    TeamWorkspaceRemoved: (_, { stream }) => sql`delete from team_workspaces where id = ${stream}`,
    TeamDeleted: (_, { stream }) => sql`delete from team_workspaces where team = ${stream}`,
    ...whenWorkspaceEnds((workspace) => sql`delete from team_workspaces where workspace = ${workspace}`),
    OrganizationDeleted: (_, { stream }) => sql`delete from team_workspaces where organization = ${stream}`,
  },
};

export const teamProjects: Projection<TeamProjectEvent | AccessEndEvent | ProjectEnd> = {
  name: 'team_projects',
  version: 1,
  tables: ['team_projects'],
  on: {
    TeamProjectAdded: ({ team, project, access, custom }, { stream, organization, time }) => sql`
      insert into team_projects (id, organization, team, project, access, custom, created_at)
      values (${stream}, ${organization}, ${team}, ${project}, ${access}, ${toJsonOrNull(custom)}, ${time})`,
    TeamProjectUpdated: ({ access, custom }, { stream }) => sql`
      update team_projects set access = ${access}, custom = ${toJsonOrNull(custom)} where id = ${stream}`,
    TeamProjectRemoved: (_, { stream }) => sql`delete from team_projects where id = ${stream}`,
    TeamDeleted: (_, { stream }) => sql`delete from team_projects where team = ${stream}`,
    ...whenProjectEnds((project) => sql`delete from team_projects where project = ${project}`),
    OrganizationDeleted: (_, { stream }) => sql`delete from team_projects where organization = ${stream}`,
  },
};

/** Access of one team to one workspace or project, as documents show it. */
type TeamAccessRow<Level, Fields> = {
  readonly id: string;
  readonly team: string;
  /** Id of the workspace or project. */
  readonly target: string;
  readonly access: Level;
  readonly custom: Fields | null;
};
export type TeamWorkspaceRow = TeamAccessRow<WorkspaceLevel, WorkspaceAccess>;
export type TeamProjectRow = TeamAccessRow<ProjectLevel, CustomProjectAccess>;

/**
 * Tables, columns and permissions of one kind of target: workspaces or projects. `p` is the alias of the target's row.
 */
type AccessTarget = {
  readonly table: Sql;
  readonly column: Sql;
  readonly targets: Sql;
  readonly grants: (actor: Identity) => Sql;
  readonly read: Permission;
  readonly manage: Permission;
};

const ACCESS_TARGETS = {
  workspace: {
    table: sql.raw('team_workspaces'),
    column: sql.raw('workspace'),
    targets: sql.raw('workspaces'),
    grants: (actor) => selectWorkspaceGrants(actor, 'p'),
    read: 'read-workspace-access',
    manage: 'manage-workspace-access',
  },
  project: {
    table: sql.raw('team_projects'),
    column: sql.raw('project'),
    targets: sql.raw('projects'),
    grants: (actor) => selectProjectGrants(actor, sql.raw('p.id')),
    read: 'read-project-access',
    manage: 'manage-project-access',
  },
} as const satisfies Record<string, AccessTarget>;

export type AccessTargetKind = keyof typeof ACCESS_TARGETS;
type RowOf<K extends AccessTargetKind> = { workspace: TeamWorkspaceRow; project: TeamProjectRow }[K];

type PermittedTarget = PermissionScope & { readonly organization: string; readonly grants: readonly Grant[] };

type TeamOnTarget = PermittedTarget & { readonly teamScope: TeamScope };

/** Returns whether the caller sees the team. Callers that manage the target see every team, also secret ones. */
const isTeamVisible = (actor: Actor, { manage }: AccessTarget, row: TeamOnTarget): boolean =>
  can(actor, manage, row) || canReadTeam(actor, row.teamScope);

const selectColumns = ({ column }: AccessTarget): Sql => sql`a.id, a.team, a.${column} as target, a.access, a.custom`;

export const selectTeamAccessById = (kind: AccessTargetKind, id: string): Sql =>
  sql`select ${selectColumns(ACCESS_TARGETS[kind])} from ${ACCESS_TARGETS[kind].table} a where a.id = ${id}`;

type TeamAccessForCommand<K extends AccessTargetKind> = RowOf<K> &
  TeamOnTarget & { readonly teamName: string; readonly snapshot: StreamSnapshot };

/** Returns one team's access. Throws `not-found` unless the caller may read or manage it, as `to` requires. */
export const findTeamAccess = async <K extends AccessTargetKind>(
  database: Database,
  actor: Actor,
  kind: K,
  to: 'read' | 'manage',
  id: string,
): Promise<TeamAccessForCommand<K>> => {
  const { table, column, targets, grants, [to]: permission } = ACCESS_TARGETS[kind];
  const row = await database.row<TeamAccessForCommand<K>>(sql`
    select ${selectColumns(ACCESS_TARGETS[kind])}, a.organization, ${grants(actor)} as grants, t.name as "teamName",
           ${selectTeamScope(actor, sql.raw('a.team'))} as "teamScope",
           ${buildSnapshotJson('s')} as snapshot
      from ${table} a join ${targets} p on p.id = a.${column} join teams t on t.id = a.team
      join event_store.streams s on s.stream = a.id
     where a.id = ${id} and ${requireCurrentAccess(actor)}`);
  if (!row) throw notFound();
  requirePermission(actor, permission, row);
  if (!isTeamVisible(actor, ACCESS_TARGETS[kind], row)) throw notFound();
  return row;
};

/**
 * Returns the access of all teams to the target that the caller may see, by team name. A team has at most one row, and
 * the permission table decides about secret teams. Therefore all rows are read, and the controller cuts the page.
 */
export const listTeamAccesses = async <K extends AccessTargetKind>(
  database: Database,
  actor: Actor,
  kind: K,
  targetId: string,
): Promise<RowOf<K>[]> => {
  const { table, column, targets, grants, read } = ACCESS_TARGETS[kind];
  const permitting = sql`
    select p.id, p.organization, ${grants(actor)} as grants from ${targets} p where p.id = ${targetId} and ${requireCurrentAccess(actor)}`;
  const rows = await database.slowRows<PermittedTarget & ((RowOf<K> & TeamOnTarget) | { readonly id: null })>(
    actor,
    sql`
    select p.organization, p.grants, ${selectColumns(ACCESS_TARGETS[kind])},
           ${selectTeamScope(actor, sql.raw('a.team'))} as "teamScope"
      from ${selectPermittedScopes(actor, read, permitting)} p
      left join (${table} a join teams t on t.id = a.team) on a.${column} = p.id order by t.name`,
  );
  const [first] = rows;
  if (!first) throw notFound();
  requirePermission(actor, read, first);
  return rows.flatMap((row) => (row.id !== null && isTeamVisible(actor, ACCESS_TARGETS[kind], row) ? [row] : []));
};

/** The target of new access. `team` is null if the organization has no such team, or if the caller may not see it. */
type TargetForNewAccess = PermissionScope & {
  readonly organization: string;
  readonly team: (ReferencedTeam & TeamScope) | null;
  /** Versions of the organization, the target and the team, which must not change while the access is created. */
  readonly preconditions: readonly StreamVersion[];
};

export const loadTargetForNewAccess = async (
  database: Database,
  actor: Actor,
  kind: AccessTargetKind,
  targetId: string,
  team: string,
): Promise<TargetForNewAccess> => {
  const { targets, grants, manage } = ACCESS_TARGETS[kind];
  const row = await database.row<TargetForNewAccess>(sql`
    select p.organization, ${grants(actor)} as grants,
           jsonb_build_object('id', named.id, 'name', named.name) || ${selectTeamScope(actor, sql.raw('named.id'))} as team,
           ${selectStreamVersions(sql.raw('array[p.organization, p.id, named.id]'))} as preconditions
      from ${targets} p left join teams named on named.id = ${team} and named.organization = p.organization
     where p.id = ${targetId} and ${requireCurrentAccess(actor)}`);
  if (!row) throw notFound();
  requirePermission(actor, manage, row);
  return row.team && canReadTeam(actor, row.team) ? row : { ...row, team: null };
};
