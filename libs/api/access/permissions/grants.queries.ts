import { sql, type Sql } from '#platform/kernel';
import { hasOrganizationName } from './resource-names.js';
import { isSiteAgent, type Identity } from '../callers/actor.js';
import { requireCurrentAccess } from './access-epochs.queries.js';
import { hasCapability, PROJECT_LEVELS, type Grant } from './grants.js';
import { can, isPermissionWithheld, permissions, type Permission } from './permissions.js';

// Permissions are always the present ones. `views.workspaces` has its schema here, because in a statement about the
// past the name without schema has rows of the past (libs/activity/history/as-of/as-of.queries.ts).

const NONE = sql.raw(`'[]'::jsonb`);

/** Returns whether the caller needs no team grants or cannot have any. Then nothing is looked up. */
const hasNoTeamGrants = (actor: Identity): boolean => actor.siteAdmin || actor.teams.length === 0;

/** Returns whether the caller cannot have grants, neither through teams nor through a run. */
export const hasNoGrants = (actor: Identity): boolean => actor.kind !== 'run' && hasNoTeamGrants(actor);

/** Selects the workspace of the token's run, and whether the run is being applied. */
const ownWorkspace = ({ id }: Identity): Sql => sql`
  (select w.*, r.status = 'applying' as applying
     from views.runs r join views.workspaces w on w.id = r.workspace where r.id = ${id}) own`;

/**
 * Returns the condition that the run's workspace `own` may read the state of the workspace `alias`, or is that
 * workspace. Named consumers count only if neither setting shares the state, because the API shows the
 * list of consumers only then.
 */
const isShared = (alias: string): Sql =>
  sql.raw(`own.organization = ${alias}.organization and (
    own.id = ${alias}.id or (${alias}.settings ->> 'globalRemoteState')::boolean
    or (${alias}.settings ->> 'projectRemoteState')::boolean and own.project = ${alias}.project
    or not (${alias}.settings ->> 'projectRemoteState')::boolean
       and exists (select 1 from remote_state_consumers c where c.workspace = ${alias}.id and c.consumer = own.id))`);

/**
 * Returns an expression for the grants that the caller's teams have on a workspace, directly and through its project:
 * `Grant[]` as jsonb, for a column named `grants`. `alias` is the name of the table of workspaces in the statement.
 */
export const selectWorkspaceGrants = (actor: Identity, alias: string): Sql => {
  if (actor.kind === 'run') {
    const level = sql.raw(
      `case when own.id <> ${alias}.id then 'consumer' when own.applying then 'applying' else 'own' end`,
    );
    return sql`(select coalesce(jsonb_agg(jsonb_build_object('on', 'run', 'level', ${level})), '[]')
                  from ${ownWorkspace(actor)} where ${isShared(alias)})`;
  }
  return hasNoTeamGrants(actor)
    ? NONE
    : sql`(select coalesce(jsonb_agg(jsonb_build_object('on', g.place, 'level', g.access, 'custom', g.custom)), '[]')
             from (select 'workspace' as place, access, custom from team_workspaces
                    where workspace = ${sql.raw(`${alias}.id`)} and team = any (${actor.teams}::text[])
                   union all
                   select 'project', access, custom from team_projects
                    where project = ${sql.raw(`${alias}.project`)} and team = any (${actor.teams}::text[])) g)`;
};

/** A grant on a workspace, directly or through its project, and the team that has it. */
export type GrantOfTeam = { readonly team: string; readonly grant: Grant };

/**
 * Returns an expression for the grants of all teams on a workspace, `GrantOfTeam[]` as jsonb, for rows that are kept for
 * several callers. `alias` is the name of the table of workspaces in the statement.
 */
export const selectGrantsOfTeams = (alias: string): Sql =>
  sql.raw(`(select coalesce(jsonb_agg(jsonb_build_object('team', g.team, 'grant',
                      jsonb_build_object('on', g.place, 'level', g.access, 'custom', g.custom)) order by g.team, g.place), '[]')
     from (select team, 'workspace' as place, access, custom from team_workspaces where workspace = ${alias}.id
            union all
           select team, 'project', access, custom from team_projects where project = ${alias}.project) g)`);

/** Returns what `selectWorkspaceGrants` selects for the caller, which must not be a run. */
export const pickGrants = (actor: Identity, all: readonly GrantOfTeam[]): readonly Grant[] =>
  actor.siteAdmin ? [] : all.filter(({ team }) => actor.teams.includes(team)).map(({ grant }) => grant);

/**
 * Returns the present grants for a statement about the past. `id` is the id of the workspace. Empty if the workspace
 * has been deleted.
 */
export const selectCurrentWorkspaceGrants = (actor: Identity, id: Sql): Sql => sql`coalesce((
  select ${selectWorkspaceGrants(actor, 'present')} from views.workspaces present where present.id = ${id}), '[]')`;

/**
 * Returns an expression for the grants on a project: those of the caller's teams, and the implied read permission of
 * callers that can see a workspace in the project.
 */
export const selectProjectGrants = (actor: Identity, project: Sql): Sql =>
  hasNoTeamGrants(actor)
    ? NONE
    : sql`(select coalesce(jsonb_agg(jsonb_build_object('on', 'project', 'level', g.access, 'custom', g.custom)), '[]')
             from (select access, custom from team_projects
                    where project = ${project} and team = any (${actor.teams}::text[])
                   union all
                   select 'passage', null where exists (
                     select 1 from team_workspaces tw join views.workspaces seen on seen.id = tw.workspace
                      where seen.project = ${project} and tw.team = any (${actor.teams}::text[]))) g)`;

/** Returns the condition that a grant lets the caller see this workspace. Every level does. */
export const isGrantedWorkspace = (actor: Identity, alias: string): Sql => {
  if (actor.kind === 'run') return sql`exists (select 1 from ${ownWorkspace(actor)} where ${isShared(alias)})`;
  return hasNoTeamGrants(actor)
    ? sql`false`
    : sql`(exists (select 1 from team_workspaces where workspace = ${sql.raw(`${alias}.id`)} and team = any (${actor.teams}::text[]))
           or exists (select 1 from team_projects where project = ${sql.raw(`${alias}.project`)} and team = any (${actor.teams}::text[])))`;
};

/**
 * Selects the ids of all workspaces that a grant lets the caller see. For lists, which would otherwise check each
 * workspace of a large organization.
 */
export const selectGrantedWorkspaces = (actor: Identity): Sql => {
  if (actor.kind === 'run') {
    return sql`select granted.id from ${ownWorkspace(actor)} join views.workspaces granted on ${isShared('granted')}`;
  }
  return hasNoTeamGrants(actor)
    ? sql`select null::text where false`
    : sql`select workspace from team_workspaces where team = any (${actor.teams}::text[])
          union
          select granted.id from views.workspaces granted
           where granted.project in (select project from team_projects where team = any (${actor.teams}::text[]))`;
};

/**
 * Returns the number of workspaces of a project that the caller may read. `all` is the stored count, which applies if
 * the caller may read all workspaces of the organization or of the project. Otherwise the statement reads only the
 * workspaces with team grants. `workspaces` has no schema here, so a read of the past counts the workspaces of that
 * time.
 */
export const buildVisibleWorkspaceCount = (
  actor: Identity,
  { organization, project, all }: Readonly<Record<'organization' | 'project' | 'all', Sql>>,
): Sql => {
  const byRole = isPermittedByRole(actor, 'read-workspace', organization);
  if (hasNoTeamGrants(actor)) return sql`case when ${byRole} then ${all} else 0 end`;
  const isTeams = sql`team = any (${actor.teams}::text[])`;
  return sql`case
    when ${byRole} or exists (select 1 from team_projects where project = ${project} and ${isTeams}) then ${all}
    else (select count(distinct seen.id) from team_workspaces tw join workspaces seen on seen.id = tw.workspace
           where seen.project = ${project} and tw.${isTeams}) end`;
};

/** Returns the condition that a grant lets the caller see this project. */
export const isGrantedProject = (actor: Identity, project: Sql): Sql =>
  hasNoTeamGrants(actor)
    ? sql`false`
    : sql`(exists (select 1 from team_projects where project = ${project} and team = any (${actor.teams}::text[]))
           or exists (select 1 from team_workspaces tw join views.workspaces seen on seen.id = tw.workspace
                       where seen.project = ${project} and tw.team = any (${actor.teams}::text[])))`;

/**
 * Selects the organization with this name, if the caller has the permission in it by a role: a table expression named
 * `organizations` with one row or none. A statement that starts from it reads nothing else for callers without the
 * permission. The caller is checked first, so that a caller that has just got the permission is not refused. The row of
 * an organization that is closed to the caller is included, so that `requirePermission` can refuse it with 401 or 403.
 */
export const selectPermittedOrganization = (actor: Identity, permission: Permission, name: string): Sql => sql`
  (select * from (select * from organizations where ${hasOrganizationName('organizations', name)} and ${requireCurrentAccess(actor)} offset 0) named
    where ${isPermittedByRole(actor, permission)} ${orOrganizationClosed(actor, sql.raw('id'))} offset 0) organizations`;

/**
 * Adds organizations that are closed to the caller to a condition, so that `requirePermission` can refuse them with 401
 * or 403.
 */
export const orOrganizationClosed = ({ closedTo }: Identity, organization: Sql): Sql =>
  closedTo.size === 0 ? sql.raw('') : sql`or ${organization} = any (${[...closedTo.keys()]}::text[])`;

/** The permissions that lists of projects can filter by, with their conditions on `custom`. */
const CUSTOM_PROJECT_FIELDS = {
  'create-workspace': sql.raw(`(custom ->> 'create')::boolean`),
  'update-project': sql.raw(`custom -> 'project' ->> 'settings' in ('update', 'delete')`),
} as const satisfies Partial<Record<Permission, Sql>>;

/** Returns the condition that a grant gives the caller the permission on this project. */
export const isGrantedOnProject = (
  actor: Identity,
  permission: keyof typeof CUSTOM_PROJECT_FIELDS,
  project: Sql,
): Sql => {
  if (hasNoTeamGrants(actor) || isPermissionWithheld(actor, permission)) return sql`false`;
  const { grant } = permissions[permission];
  const levels = PROJECT_LEVELS.filter(
    (level) => level !== 'custom' && hasCapability([{ on: 'project', level }], grant),
  );
  return sql`exists (
    select 1 from team_projects where project = ${project} and team = any (${actor.teams}::text[])
       and (access = any (${levels}::text[]) or access = 'custom' and ${CUSTOM_PROJECT_FIELDS[permission]}))`;
};

/**
 * Returns a condition on a row of `organizations`: the caller has the permission by a role in the complete
 * organization, so that a list shows all rows without a check of grants.
 */
export const isPermittedByRole = (actor: Identity, permission: Permission, id: Sql = sql.raw('id')): Sql => {
  if (actor.siteAdmin || isSiteAgent(actor))
    return can(actor, permission, { organization: null }) ? sql`true` : sql`false`;
  const there = [...actor.rolesByOrganization.keys()].filter((organization) =>
    can(actor, permission, { organization }),
  );
  return sql`${id} = any (${there}::text[])`;
};
