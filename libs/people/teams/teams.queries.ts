import { notFound, sql, type Sql } from '#kernel';
import { buildSnapshotJson, type StreamSnapshot } from '#event-store';
import type { Database } from '#postgres';
import type { ListPage, PageRequest } from '#json-api';
import {
  requireCurrentAccess,
  listInOrganization,
  isPermittedByRole,
  type Actor,
  type Identity,
  type OrganizationAccess,
  type Permission,
} from '#access';
import type { TeamMember, TeamSettings } from './team.js';
import { requireTeamRead, type TeamScope } from '../team-access/team-permission.js';
import { selectInvitation, selectVisibleMemberId } from '../memberships/visible-accounts.queries.js';

export type TeamDetailsRow = TeamScope &
  TeamSettings & {
    readonly id: string;
    readonly organizationName: string;
    readonly organizationAccess: OrganizationAccess;
    /** Ids of users. */
    readonly members: readonly string[];
    /** The same for documents: other ids stand for accounts that an invitation hides from the caller. */
    readonly shownMembers: readonly string[];
    readonly memberships: readonly string[];
  };

/** Whoever is in a team, or holds its token, has this at it. */
const selectGrants = (actor: Identity): Sql =>
  sql`case when t.id = any (${actor.teams}::text[]) then '[{"on": "team", "level": "member"}]'::jsonb else '[]' end`;

/** Columns of a row `t` of `teams` beside its organization `o`: what permissions are asked about. */
export const selectTeamScopeColumns = (actor: Identity): Sql => sql`t.organization, t.visibility,
  t.allow_member_token_management as "allowMemberTokenManagement", o.owners_team = t.id as "isOwners",
  ${selectGrants(actor)} as grants`;

const COLUMNS = sql.raw(`o.name as "organizationName", t.name, t.sso_team_id as "ssoTeamId",
  t.organization_access as "organizationAccess",
  array(select user_id from team_members m where m.team = t.id order by user_id) as members,
  array(select ou.id from team_members m join organization_memberships ou
           on ou.user_id = m.user_id and ou.organization = t.organization
         where m.team = t.id order by ou.id) as memberships`);

const selectColumns = (actor: Identity): Sql => sql`t.id, ${selectTeamScopeColumns(actor)}, ${COLUMNS},
  array(select ${selectVisibleMemberId(actor)} as shown
          from team_members tm left join organization_memberships ou
            on ou.user_id = tm.user_id and ou.organization = t.organization
         where tm.team = t.id order by shown) as "shownMembers"`;

const FROM = sql.raw('from teams t join organizations o on o.id = t.organization');

/** The same as one expression, a TeamScope or null, for rows that hold no more of a team than its id. */
export const selectTeamScope = (actor: Identity, team: Sql): Sql => sql`
  (select to_jsonb(place) from (select ${selectTeamScopeColumns(actor)} ${FROM} where t.id = ${team}) place)`;

const organizationAllows = (actor: Identity, permission: Permission): Sql =>
  sql`t.organization in (select id from organizations where ${isPermittedByRole(actor, permission)})`;

/** A condition on a row `t` of `teams`: whether the caller sees it; what canReadTeam says of one that has been read. */
export const isVisibleTeam = (actor: Identity): Sql => sql`(${organizationAllows(actor, 'read-teams')}
  and (t.visibility <> 'secret' or t.id = any (${actor.teams}::text[])
       or ${organizationAllows(actor, 'read-secret-teams')}))`;

/**
 * Whether somebody, a jsonb of an event or a view, is a team of this organization that the caller may not see. Of a team
 * that has been deleted nothing says any more whether it was secret: callers see it if they see every secret team.
 */
export const isHiddenTeam = (actor: Identity, somebody: Sql, organization: Sql): Sql => sql`
  coalesce(${somebody} ->> 'type' = 'teams' and not exists (
    select 1 from (select ${somebody} ->> 'id' as id, ${organization} as organization) named
      left join teams on teams.id = named.id
     cross join lateral (select named.id, named.organization, coalesce(teams.visibility, 'secret') as visibility) t
     where ${isVisibleTeam(actor)}), false)`;

/** Somebody as the caller may see them: a team that the caller may not see has its id, but null as its name. */
export const selectVisiblePrincipal = (actor: Identity, somebody: Sql, organization: Sql): Sql => sql`
  case when ${isHiddenTeam(actor, somebody, organization)} then ${somebody} || '{"name": null}' else ${somebody} end`;

/** Members of a team who have accepted their membership; those of old logs have none and are members all the same. */
const activeMembers = (team: Sql, organization: Sql): Sql => sql`select m.user_id from team_members m
  where m.team = ${team} and not exists (
    select 1 from organization_memberships ou
     where ou.user_id = m.user_id and ou.organization = ${organization} and ou.status <> 'active')`;

/** An expression that gives who owns the organization by this team as jsonb, or null where it is not the owners team. */
export const selectOwners = (team: Sql): Sql => sql`
  (select jsonb_agg(owner.user_id) from organizations oo
     cross join lateral (${activeMembers(sql.raw('oo.owners_team'), sql.raw('oo.id'))}) owner (user_id)
    where oo.owners_team = ${team})`;

/** Whether the organization of that owners team has been left without anybody who owns it. */
export const isOwnerless = (team: string): Sql => sql`
  exists (select 1 from organizations oo where oo.owners_team = ${team}
             and not exists (${activeMembers(sql.raw('oo.owners_team'), sql.raw('oo.id'))}))`;

export const selectTeamById = (id: string, actor: Identity): Sql =>
  sql`select ${selectColumns(actor)} ${FROM} where t.id = ${id}`;

/** The team, where the caller sees it. */
export const findTeam = async (database: Database, actor: Actor, id: string): Promise<TeamDetailsRow> => {
  const row = await database.row<TeamDetailsRow>(sql`${selectTeamById(id, actor)} and ${requireCurrentAccess(actor)}`);
  if (!row) throw notFound();
  requireTeamRead(actor, row);
  return row;
};

/** Those of the teams that the caller sees. */
export const selectVisibleTeams = (ids: Sql, actor: Identity): Sql =>
  sql`select ${selectColumns(actor)} ${FROM} where t.id = any (${ids}) and ${isVisibleTeam(actor)} order by t.name, t.id`;

export const loadTeamsById = (database: Database, actor: Actor, ids: readonly string[]): Promise<TeamDetailsRow[]> =>
  database.slowRows<TeamDetailsRow>(actor, selectVisibleTeams(sql`${ids}::text[]`, actor));

export type TeamFilter = { readonly names: readonly string[]; readonly search: string | undefined };

/** Returns one page and the count of all teams that the caller sees, from one statement. */
export const listTeams = (
  database: Database,
  actor: Actor,
  organization: string,
  page: PageRequest,
  filter: TeamFilter,
): Promise<ListPage<TeamDetailsRow>> => {
  const where = sql.and([
    sql`t.organization = owner.id`,
    isVisibleTeam(actor),
    ...(filter.names.length > 0 ? [sql`t.name = any (${filter.names}::text[])`] : []),
    ...(filter.search ? [sql`position(lower(${filter.search}) in lower(t.name)) > 0`] : []),
  ]);
  const list = { organization, permission: 'read-teams', columns: selectColumns(actor), from: FROM, where } as const;
  return listInOrganization(database, actor, { ...list, order: sql.raw('name') }, page);
};

/** What a decision needs to know besides the stream's own state. */
export type TeamForCommand = TeamScope & {
  readonly id: string;
  readonly organizationAccess: OrganizationAccess;
  readonly organizationVersion: number;
  /** Who owns the organization by it; null where it gives no ownership. */
  readonly owners: readonly string[] | null;
  readonly snapshot: StreamSnapshot;
};

/** `more` are columns that only some commands need. */
export const loadTeamForCommand = async <More extends object>(
  database: Database,
  actor: Actor,
  id: string,
  more: Sql,
): Promise<TeamForCommand & More> => {
  const row = await database.row<TeamForCommand & More>(sql`
    select t.id, ${selectTeamScopeColumns(actor)}, t.organization_access as "organizationAccess",
           ${selectOwners(sql.raw('t.id'))} as owners,
           so.version as "organizationVersion", ${buildSnapshotJson('s')} as snapshot ${more}
      ${FROM} join event_store.streams s on s.stream = t.id join event_store.streams so on so.stream = t.organization
     where t.id = ${id} and ${requireCurrentAccess(actor)}`);
  if (!row) throw notFound();
  return row;
};

/** Members are named by their usernames, by the addresses that they were invited by, or by their memberships. */
export type MemberReferences = { readonly by: 'users' | 'organization-memberships'; readonly names: readonly string[] };

export type ReferencedMember = TeamMember & {
  readonly name: string;
  /** Null for who is a member by a team only, as in logs from before there were memberships. */
  readonly membership: string | null;
  readonly version: number | null;
};

/** Those of the named who belong to the organization of team `t`, invited or active. */
export const selectReferencedMembers = ({ by, names }: MemberReferences): Sql => {
  const membership = sql.raw(`left join organization_memberships ou
       on ou.user_id = u.id and ou.organization = t.organization
     left join event_store.streams sou on sou.stream = ou.id`);
  const isNamed =
    by === 'users'
      ? sql`(u.username = any (${names}::text[]) and ou.status is distinct from 'invited'
              or u.id in (select i.user_id from organization_memberships i
                           where i.organization = t.organization and i.status = 'invited'
                             and i.email = any (${names}::text[])) and ou.status = 'invited')`
      : sql`u.id in (select user_id from organization_memberships where id = any (${names}::text[])) 
            and ou.id = any (${names}::text[])`;
  const shown = `case when ou.status = 'invited' then coalesce(ou.email, u.username) else u.username end`;
  const name = sql.raw(by === 'users' ? shown : 'ou.id');
  // In the order of the request, so that a refusal names the first member that is wrong.
  return sql`, coalesce((
    select jsonb_agg(jsonb_build_object('name', ${name}, 'user', u.id, 'username', u.username,
                                        'invitation', ${selectInvitation('ou')}, 'membership', ou.id, 'version', sou.version)
                     order by array_position(${names}::text[], ${name}::text))
      from users u ${membership}
     where ${isNamed}
       and (ou.id is not null or exists (select 1 from team_members x join teams y on y.id = x.team
                                          where x.user_id = u.id and y.organization = t.organization))), '[]') as named`;
};
