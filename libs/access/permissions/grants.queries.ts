import { sql, type Sql } from '#kernel';
import type { Identity } from '../authentication/actor.js';
import { requireCurrentAccess } from '../epochs/access-epochs.queries.js';
import { hasCapability, PROJECT_LEVELS } from './grants.js';
import { can, permissions, type Permission } from './permissions.js';

// Permissions are those of now: `workspaces` stands here with its schema, for a statement that reads the past has rows of
// the past under the mere name (libs/history/as-of/as-of.queries.ts).

const NONE = sql.raw(`'[]'::jsonb`);

/** Those who need no grant of their teams, or can have none: then nothing is looked up. */
const hasNoTeamGrants = (actor: Identity): boolean => actor.siteAdmin || actor.teams.length === 0;

/** Whether neither teams nor a run can give the caller anything at a place. */
export const hasNoGrants = (actor: Identity): boolean => actor.kind !== 'run' && hasNoTeamGrants(actor);

/** The workspace of the run that a token stands for, and whether the run is being applied. */
const ownWorkspace = ({ id }: Identity): Sql => sql`
  (select w.*, r.status = 'applying' as applying
     from views.runs r join views.workspaces w on w.id = r.workspace where r.id = ${id}) own`;

/**
 * Whether that workspace may read the state of this one, or is it (contract §4.3). Named consumers count only if neither
 * setting shares the state: the list of consumers shows them only then (clients.md §8).
 */
const isShared = (alias: string): Sql =>
  sql.raw(`own.organization = ${alias}.organization and (
    own.id = ${alias}.id or (${alias}.settings ->> 'globalRemoteState')::boolean
    or (${alias}.settings ->> 'projectRemoteState')::boolean and own.project = ${alias}.project
    or not (${alias}.settings ->> 'projectRemoteState')::boolean
       and exists (select 1 from remote_state_consumers c where c.workspace = ${alias}.id and c.consumer = own.id))`);

/**
 * What the caller's teams have been given on a workspace, directly and through its project: an expression that yields
 * `Grant[]` as jsonb, for a column named `grants` of a row that permissions are asked about. `alias` is the name under
 * which the statement knows the table of workspaces.
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

/**
 * The same with the present state, for a statement that reads the past. `id` is the id of the workspace. No row if the workspace
 * is deleted by now.
 */
export const selectCurrentWorkspaceGrants = (actor: Identity, id: Sql): Sql => sql`coalesce((
  select ${selectWorkspaceGrants(actor, 'present')} from views.workspaces present where present.id = ${id}), '[]')`;

/** The same for a project: what teams have been given on it, and a passage for who sees a workspace in it. */
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

/** Whether any grant lets the caller see this workspace: every level does. */
export const isGrantedWorkspace = (actor: Identity, alias: string): Sql => {
  if (actor.kind === 'run') return sql`exists (select 1 from ${ownWorkspace(actor)} where ${isShared(alias)})`;
  return hasNoTeamGrants(actor)
    ? sql`false`
    : sql`(exists (select 1 from team_workspaces where workspace = ${sql.raw(`${alias}.id`)} and team = any (${actor.teams}::text[]))
           or exists (select 1 from team_projects where project = ${sql.raw(`${alias}.project`)} and team = any (${actor.teams}::text[])))`;
};

/**
 * The ids of all workspaces that any grant lets the caller see: for lists, which would otherwise ask of each workspace of
 * a large organization whether it is one of a few.
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
 * Returns how many workspaces of a project the caller may read. `all` is the stored count: it counts if the caller reads
 * all workspaces of the organization or of the project. Without a stored count, the statement reads only the workspaces
 * that teams have been given. `workspaces` has no schema here: in a read of the past, the count is of that time.
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

/** Whether any grant lets the caller see this project. */
export const isGrantedProject = (actor: Identity, project: Sql): Sql =>
  hasNoTeamGrants(actor)
    ? sql`false`
    : sql`(exists (select 1 from team_projects where project = ${project} and team = any (${actor.teams}::text[]))
           or exists (select 1 from team_workspaces tw join views.workspaces seen on seen.id = tw.workspace
                       where seen.project = ${project} and tw.team = any (${actor.teams}::text[])))`;

/**
 * The organization of this name, if the caller may do that in it by a role: a table expression named `organizations` of one
 * row or none. A statement that starts from it reads nothing else for callers without the permission. The caller is proved
 * first: somebody who has just got the permission must not be taken for somebody without it. An organization that is closed to
 * the caller's token is there as well, for `demand` to say so.
 */
export const selectPermittedOrganization = (actor: Identity, permission: Permission, name: string): Sql => sql`
  (select * from (select * from organizations where name = ${name} and ${requireCurrentAccess(actor)} offset 0) named
    where ${isPermittedByRole(actor, permission)} ${orOrganizationClosed(actor, sql.raw('id'))} offset 0) organizations`;

/** Adds to a condition the organizations that are closed to the caller's token, for `demand` to refuse them with 401. */
export const orOrganizationClosed = ({ closedTo }: Identity, organization: Sql): Sql =>
  closedTo.size === 0 ? sql.raw('') : sql`or ${organization} = any (${[...closedTo]}::text[])`;

/** What lists of projects are filtered by, and where `custom` says it. */
const CUSTOM_PROJECT_FIELDS = {
  'create-workspace': sql.raw(`(custom ->> 'create')::boolean`),
  'update-project': sql.raw(`custom -> 'project' ->> 'settings' in ('update', 'delete')`),
} as const satisfies Partial<Record<Permission, Sql>>;

/** Whether any grant lets the caller do that with this project. */
export const isGrantedOnProject = (
  actor: Identity,
  permission: keyof typeof CUSTOM_PROJECT_FIELDS,
  project: Sql,
): Sql => {
  if (hasNoTeamGrants(actor)) return sql`false`;
  const { grant } = permissions[permission];
  const levels = PROJECT_LEVELS.filter(
    (level) => level !== 'custom' && hasCapability([{ on: 'project', level }], grant),
  );
  return sql`exists (
    select 1 from team_projects where project = ${project} and team = any (${actor.teams}::text[])
       and (access = any (${levels}::text[]) or access = 'custom' and ${CUSTOM_PROJECT_FIELDS[permission]}))`;
};

/**
 * A condition on a row of `organizations`: whether the caller may do that by standing everywhere in it, so that a list
 * shows all of it without looking at grants.
 */
export const isPermittedByRole = (actor: Identity, permission: Permission, id: Sql = sql.raw('id')): Sql => {
  if (actor.siteAdmin) return can(actor, permission, { organization: null }) ? sql`true` : sql`false`;
  const there = [...actor.standings.keys()].filter((organization) => can(actor, permission, { organization }));
  return sql`${id} = any (${there}::text[])`;
};
