import { sql, type Sql } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import type { ListPage, PageRequest } from '#api/json-api';
import {
  isPermittedByRole,
  listInOrganization,
  selectWorkspaceGrants,
  type Actor,
  type PermissionScope,
  type ProjectLevel,
  type WorkspaceLevel,
} from '#api/access';
import { isVisibleTeam } from '../teams/teams.queries.js';

/** The access of one team to a project, or its own access to a workspace. */
type TeamAccessCell = {
  /** Id of the access: `tws-…` or `tprj-…`. */
  readonly id: string;
  readonly team: string;
  readonly on: 'project' | 'workspace';
  readonly level: WorkspaceLevel | ProjectLevel;
};

/** A project or a workspace with the access of the teams that the caller sees. */
export type AccessRow = PermissionScope & {
  readonly id: string;
  readonly kind: 'projects' | 'workspaces';
  readonly organization: string;
  readonly name: string;
  readonly project: string;
  readonly projectName: string;
  /** The row of a workspace has the access to its project too. */
  readonly accesses: readonly TeamAccessCell[];
};

type AccessRowFilter = {
  readonly project: string | undefined;
  readonly team: string | undefined;
  readonly search: string | undefined;
};

/**
 * Returns the condition that the caller sees a team `t` with access to a row `r`. Callers that manage the access see every
 * team, also secret ones.
 */
const isShownTeam = (actor: Actor): Sql =>
  sql`(${isPermittedByRole(actor, 'manage-workspace-access', sql.raw('r.organization'))} or ${isVisibleTeam(actor)})`;

const selectAccesses = (actor: Actor): Sql => sql`
  (select coalesce(jsonb_agg(jsonb_build_object('id', g.id, 'team', g.team, 'on', g.place, 'level', g.access)
                             order by t.name, g.place), '[]')
     from (select id, team, 'workspace' as place, access from team_workspaces where workspace = r.id
           union all
           select id, team, 'project', access from team_projects where project = r.project) g
     join teams t on t.id = g.team
    where ${isShownTeam(actor)})`;

/** Returns the condition that the team has access to the row itself. It matches no row if the caller does not see the team. */
const hasAccessOf = (actor: Actor, team: string): Sql => sql`
  r.id in (select workspace from team_workspaces where team = ${team}
           union all select project from team_projects where team = ${team})
  and exists (select 1 from teams t where t.id = ${team} and ${isShownTeam(actor)})`;

/** Runs have no roles, and the grants of a run need other columns of the workspace. */
const selectGrants = (actor: Actor): Sql =>
  actor.kind === 'run' ? sql.raw(`'[]'::jsonb`) : selectWorkspaceGrants(actor, 'r');

/** Each project is followed by its workspaces. */
const FROM = sql.raw(`from (
  select p.id, 'projects' as kind, p.organization, p.name, p.id as project, p.name as project_name, '' as place
    from projects p where p.organization = owner.id
  union all
  select w.id, 'workspaces', w.organization, w.name, p.id, p.name, w.name
    from workspaces w join projects p on p.id = w.project where w.organization = owner.id) r`);

/** Returns one page of the matrix and the number of all its rows, from one statement. */
export const listAccessRows = (
  database: Database,
  actor: Actor,
  organization: string,
  page: PageRequest,
  { project, team, search }: AccessRowFilter,
): Promise<ListPage<AccessRow>> =>
  listInOrganization<AccessRow>(
    database,
    actor,
    {
      organization,
      permission: 'read-project-access',
      columns: sql`r.id, r.kind, r.organization, r.name, r.project, r.project_name as "projectName", r.place,
        ${selectGrants(actor)} as grants, ${selectAccesses(actor)} as accesses`,
      from: FROM,
      where: sql.and([
        sql`true`,
        ...(project ? [sql`r.project = ${project}`] : []),
        ...(team ? [hasAccessOf(actor, team)] : []),
        ...(search ? [sql`position(lower(${search}) in lower(r.name)) > 0`] : []),
      ]),
      order: sql.raw('"projectName", project, place, id'),
    },
    page,
  );
