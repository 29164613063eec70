import { sql, type Sql } from '#platform/kernel';
import type { Grant } from './grants.js';

/** A grant of a team on a workspace or project. */
export type TeamGrant = { readonly scope: string; readonly team: string; readonly grant: Grant };

export type TeamGrantRequest = {
  readonly teams: readonly string[];
  readonly workspaces: readonly string[];
  readonly projects: readonly string[];
};

const toGrant = (target: Sql): Sql => sql`jsonb_build_object('on', ${target}, 'level', g.access, 'custom', g.custom)`;

/**
 * Returns an expression for the grants of these teams on these workspaces, on their projects, and on these projects:
 * `TeamGrant[]` as jsonb. One statement with it checks many callers; each of them has the grants of its teams, as
 * `selectWorkspaceGrants` and `selectProjectGrants` return them for one caller.
 */
export const selectTeamGrants = ({ teams, workspaces, projects }: TeamGrantRequest): Sql => sql`(
  select coalesce(jsonb_agg(jsonb_build_object('scope', g.scope, 'team', g.team, 'grant', ${toGrant(sql.raw('g.place'))})), '[]')
    from (select 'workspace' as place, workspace as scope, team, access, custom from team_workspaces
           where workspace = any (${workspaces}::text[]) and team = any (${teams}::text[])
          union all
          select 'project', project, team, access, custom from team_projects
           where team = any (${teams}::text[])
             and project in (select project from views.workspaces where id = any (${workspaces}::text[])
                             union all select unnest(${projects}::text[]))
          union all
          select 'project', p.id, t.id, 'passage', null
            from unnest(${projects}::text[]) p (id) cross join unnest(${teams}::text[]) t (id)
           where exists (select 1 from team_workspaces tw join views.workspaces seen on seen.id = tw.workspace
                          where tw.team = t.id and seen.project = p.id)) g)`;
