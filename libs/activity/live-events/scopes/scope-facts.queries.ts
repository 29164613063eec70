import { sql, type Sql } from '#platform/kernel';
import {
  selectOutdatedCallers,
  selectTeamGrants,
  toCheckedCaller,
  type Grant,
  type Identity,
  type TeamGrant,
} from '#api/access';
import type { TeamScope } from '#identity/people';
import type { Change } from '../messages/change.js';

/** What decides who sees a team and who manages its tokens. */
type TeamFacts = Pick<TeamScope, 'visibility' | 'allowMemberTokenManagement' | 'isOwners'> & {
  readonly id: string;
};

export type ScopeFactsRow = {
  /** Positions of callers, from 1, whose access has changed since they were read. */
  readonly outdated: readonly number[];
  readonly workspaces: readonly { readonly id: string; readonly project: string }[];
  readonly projects: readonly string[];
  readonly teams: readonly TeamFacts[];
  readonly grants: readonly TeamGrant[];
  readonly past: readonly { readonly scope: string; readonly team: string }[];
};

type ScopeIds = Readonly<Record<'workspaces' | 'projects' | 'teams', readonly string[]>>;

const collectIds = (changes: readonly Change[]): ScopeIds => {
  const workspaces = new Set<string>();
  const projects = new Set<string>();
  const teams = new Set<string>();
  for (const { scope } of changes) {
    if (scope.in === 'workspace') {
      workspaces.add(scope.workspace);
      const former = [scope.lastProject, scope.leftProject].filter((project) => project !== null);
      for (const project of former) projects.add(project);
    } else if (scope.in === 'project') projects.add(scope.project);
    else if (scope.in === 'team' || scope.in === 'team-tokens') teams.add(scope.team);
    else if (scope.in === 'team-access') {
      teams.add(scope.team);
      (scope.target === 'workspace' ? workspaces : projects).add(scope.id);
    }
  }
  return { workspaces: [...workspaces], projects: [...projects], teams: [...teams] };
};

/** Selects which callers have another access than before, and what decides what they may read of these changes. */
export const selectScopeFacts = (changes: readonly Change[], callers: readonly Identity[]): Sql => {
  const { workspaces, projects, teams } = collectIds(changes);
  const callerTeams = [...new Set(callers.flatMap((caller) => caller.teams))];
  return sql`
    select array(${selectOutdatedCallers(JSON.stringify(callers.map(toCheckedCaller)))})::integer[] as outdated,
           (select coalesce(jsonb_agg(jsonb_build_object('id', id, 'project', project)), '[]')
              from workspaces where id = any (${workspaces}::text[])) as workspaces,
           array(select id from projects where id = any (${projects}::text[])) as projects,
           (select coalesce(jsonb_agg(jsonb_build_object(
                     'id', t.id, 'visibility', t.visibility, 'isOwners', o.owners_team = t.id,
                     'allowMemberTokenManagement', t.allow_member_token_management)), '[]')
              from teams t join organizations o on o.id = t.organization
             where t.id = any (${teams}::text[])) as teams,
           ${selectTeamGrants({ teams: callerTeams, workspaces, projects })} as grants,
           (select coalesce(jsonb_agg(jsonb_build_object('scope', scope, 'team', team)), '[]') from granted_scopes
             where scope = any (${[...workspaces, ...projects]}::text[]) and team = any (${callerTeams}::text[])) as past`;
};

/** What decides who may read the resources of some changes: what exists, and the grants of teams. */
export type ScopeFacts = {
  readonly projectOf: ReadonlyMap<string, string>;
  readonly projects: ReadonlySet<string>;
  readonly teams: ReadonlyMap<string, TeamFacts>;
  /** Grants by the id of the workspace or project. */
  readonly grants: ReadonlyMap<string, readonly TeamGrant[]>;
  /** Teams that have access to a workspace or project, or had it until its deletion, by its id. */
  readonly pastTeams: ReadonlyMap<string, readonly string[]>;
};

const groupBy = <T extends { readonly scope: string }, V>(rows: readonly T[], toValue: (row: T) => V) => {
  const groups = new Map<string, V[]>();
  for (const row of rows) {
    const group = groups.get(row.scope);
    if (group) group.push(toValue(row));
    else groups.set(row.scope, [toValue(row)]);
  }
  return groups;
};

export const toScopeFacts = ({ workspaces, projects, teams, grants, past }: ScopeFactsRow): ScopeFacts => ({
  projectOf: new Map(workspaces.map(({ id, project }) => [id, project])),
  projects: new Set(projects),
  teams: new Map(teams.map((team) => [team.id, team])),
  grants: groupBy(grants, (row) => row),
  pastTeams: groupBy(past, ({ team }) => team),
});

/** Returns the caller's grants on these workspaces and projects. */
export const listGrants = ({ grants }: ScopeFacts, teams: ReadonlySet<string>, ...scopes: readonly string[]): Grant[] =>
  scopes.flatMap((scope) => (grants.get(scope) ?? []).filter(({ team }) => teams.has(team)).map(({ grant }) => grant));

/** Returns whether one of the teams has access to the workspace or project, or had it until its deletion. */
export const hadAccess = ({ pastTeams }: ScopeFacts, teams: ReadonlySet<string>, scope: string): boolean =>
  (pastTeams.get(scope) ?? []).some((team) => teams.has(team));
