import { hasOneOfNames, notFound, sql, type Sql } from '#platform/kernel';
import { buildSnapshotJson, type StreamSnapshot } from '#storage/event-store';
import type { Database } from '#platform/postgres';
import type { ListPage, PageRequest } from '#api/json-api';
import {
  requireCurrentAccess,
  listInOrganization,
  isPermittedByRole,
  type Actor,
  type Identity,
  type OrganizationAccess,
  type Permission,
} from '#api/access';
import { hasUsername } from '../users/user-names.js';
import { TEAM_NAMES } from './team-names.js';
import type { TeamMember, TeamSettings } from './team.js';
import { requireTeamRead, type TeamScope } from '../team-access/team-permission.js';
import { selectInvitation, selectVisibleMemberId } from '../memberships/visible-accounts.queries.js';

export type TeamDetailsRow = TeamScope &
  TeamSettings & {
    readonly id: string;
    readonly organizationName: string;
    readonly organizationAccess: OrganizationAccess;
    readonly members: readonly string[];
    /** Ids of the members for documents: accounts that an invitation hides from the caller have other ids. */
    readonly shownMembers: readonly string[];
    readonly memberships: readonly string[];
  };

/** Selects the grant `member` if the caller is in the team or uses its token. */
const selectGrants = (actor: Identity): Sql =>
  sql`case when t.id = any (${actor.teams}::text[]) then '[{"on": "team", "level": "member"}]'::jsonb else '[]' end`;

/** Returns the columns of a TeamScope, for a row `t` of `teams` and its organization `o`. */
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

/** Returns an expression for a TeamScope as jsonb, or null, for rows that contain only the team's id. */
export const selectTeamScope = (actor: Identity, team: Sql): Sql => sql`
  (select to_jsonb(place) from (select ${selectTeamScopeColumns(actor)} ${FROM} where t.id = ${team}) place)`;

// Correlated, because Postgres would read all organizations for `t.organization in (select id …)` of an administrator.
const organizationAllows = (actor: Identity, permission: Permission): Sql =>
  sql`exists (select 1 from organizations where id = t.organization and ${isPermittedByRole(actor, permission)})`;

/**
 * Returns a condition on a row `t` of `teams`: the caller sees the team. `canReadTeam` is the same rule for a loaded
 * team.
 */
export const isVisibleTeam = (actor: Identity): Sql => sql`(${organizationAllows(actor, 'read-teams')}
  and (t.visibility <> 'secret' or t.id = any (${actor.teams}::text[])
       or ${organizationAllows(actor, 'read-secret-teams')}))`;

/**
 * Returns a condition: `somebody`, a jsonb of an event or a view, is a team of this organization that the caller may
 * not see. A deleted team counts as secret, because its visibility is no longer known.
 */
export const isHiddenTeam = (actor: Identity, somebody: Sql, organization: Sql): Sql => sql`
  coalesce(${somebody} ->> 'type' = 'teams' and not exists (
    select 1 from (select ${somebody} ->> 'id' as id, ${organization} as organization) named
      left join teams on teams.id = named.id
     cross join lateral (select named.id, named.organization, coalesce(teams.visibility, 'secret') as visibility) t
     where ${isVisibleTeam(actor)}), false)`;

/** Returns `somebody` as the caller may see them: the name of a hidden team is null. */
export const selectVisiblePrincipal = (actor: Identity, somebody: Sql, organization: Sql): Sql => sql`
  case when ${isHiddenTeam(actor, somebody, organization)} then ${somebody} || '{"name": null}' else ${somebody} end`;

/**
 * Selects the active members of a team, without suspended users. Members without a membership, as in old logs, count as
 * active.
 */
export const selectActiveMembers = (team: Sql, organization: Sql): Sql => sql`select m.user_id from team_members m
  where m.team = ${team} and not exists (
    select 1 from organization_memberships ou
     where ou.user_id = m.user_id and ou.organization = ${organization} and ou.status <> 'active')
    and not exists (select 1 from users mu where mu.id = m.user_id and mu.suspended)`;

/**
 * Returns an expression for the ids of the organization's active owners as jsonb; null if this is not the owners team.
 */
export const selectOwners = (team: Sql): Sql => sql`
  (select jsonb_agg(owner.user_id) from organizations oo
     cross join lateral (${selectActiveMembers(sql.raw('oo.owners_team'), sql.raw('oo.id'))}) owner (user_id)
    where oo.owners_team = ${team})`;

/** Returns a condition: this is an owners team without an active member. */
export const isOwnerless = (team: string): Sql => sql`
  exists (select 1 from organizations oo where oo.owners_team = ${team}
             and not exists (${selectActiveMembers(sql.raw('oo.owners_team'), sql.raw('oo.id'))}))`;

export const selectTeamById = (id: string, actor: Identity): Sql =>
  sql`select ${selectColumns(actor)} ${FROM} where t.id = ${id}`;

/** Returns the team. Throws `not-found` if the caller cannot see it. */
export const findTeam = async (database: Database, actor: Actor, id: string): Promise<TeamDetailsRow> => {
  const row = await database.row<TeamDetailsRow>(sql`${selectTeamById(id, actor)} and ${requireCurrentAccess(actor)}`);
  if (!row) throw notFound();
  requireTeamRead(actor, row);
  return row;
};

export const selectVisibleTeams = (ids: Sql, actor: Identity): Sql =>
  sql`select ${selectColumns(actor)} ${FROM} where t.id = any (${ids}) and ${isVisibleTeam(actor)} order by t.name, t.id`;

export const loadTeamsById = (database: Database, actor: Actor, ids: readonly string[]): Promise<TeamDetailsRow[]> =>
  database.slowRows<TeamDetailsRow>(actor, selectVisibleTeams(sql`${ids}::text[]`, actor));

type TeamFilter = { readonly names: readonly string[]; readonly search: string | undefined };

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
    ...(filter.names.length > 0 ? [hasOneOfNames(TEAM_NAMES, 't', filter.names)] : []),
    ...(filter.search ? [sql`position(lower(${filter.search}) in lower(t.name)) > 0`] : []),
  ]);
  const list = { organization, permission: 'read-teams', columns: selectColumns(actor), from: FROM, where } as const;
  return listInOrganization(database, actor, { ...list, order: sql.raw('name') }, page);
};

export type TeamForCommand = TeamScope & {
  readonly id: string;
  readonly organizationAccess: OrganizationAccess;
  readonly organizationVersion: number;
  /** Ids of the organization's active owners if this is the owners team, otherwise null. */
  readonly owners: readonly string[] | null;
  readonly snapshot: StreamSnapshot;
};

/** Loads a team for a command. `more`: columns that only some commands need. */
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

/** References to members: usernames and addresses of invitations, in any case, or ids of memberships. */
export type MemberReferences = { readonly by: 'users' | 'organization-memberships'; readonly names: readonly string[] };

export type ReferencedMember = TeamMember & {
  /** The references that name the member. */
  readonly references: readonly string[];
  /** Null for users that are in a team but have no membership, as in old logs. */
  readonly membership: string | null;
  readonly version: number | null;
};

/** Selects each reference with a user that it names, for a team `t`. Invitations show only the address. */
const selectReferencedPeople = ({ by, names }: MemberReferences): Sql => {
  const references = sql`unnest(${names}::text[]) with ordinality reference (name, position)`;
  return by === 'users'
    ? sql`select named.id as person, reference.* from ${references} join users named on ${hasUsername('named', sql.raw('reference.name'))}
           where not exists (select 1 from organization_memberships i
                              where i.user_id = named.id and i.organization = t.organization and i.status = 'invited')
          union all
          select i.user_id, reference.* from ${references} join organization_memberships i
              on i.organization = t.organization and i.status = 'invited' and lower(i.email) = lower(reference.name)`
    : sql`select i.user_id as person, reference.* from ${references} join organization_memberships i
              on i.organization = t.organization and i.id = reference.name`;
};

/**
 * Returns a column `referencedMembers`: the referenced users that belong to the organization of team `t`, invited or
 * active.
 */
export const selectReferencedMembers = (references: MemberReferences): Sql => sql`, coalesce((
    select jsonb_agg(jsonb_build_object('references', referenced.names, 'user', u.id, 'username', u.username,
                                        'invitation', ${selectInvitation('ou')}, 'membership', ou.id, 'version', sou.version)
                     -- In the order of the request, as the events of the members.
                     order by referenced.position, u.id)
      from (select person, array_agg(name) as names, min(position) as position
              from (${selectReferencedPeople(references)}) found group by person) referenced
      join users u on u.id = referenced.person
      left join organization_memberships ou on ou.user_id = u.id and ou.organization = t.organization
      left join event_store.streams sou on sou.stream = ou.id
     where ou.id is not null or exists (select 1 from team_members x join teams y on y.id = x.team
                                         where x.user_id = u.id and y.organization = t.organization)), '[]') as "referencedMembers"`;
