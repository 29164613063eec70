import { notFound, sql, type Sql, type Timestamp } from '#platform/kernel';
import { buildSnapshotJson, type StreamSnapshot } from '#storage/event-store';
import type { Database } from '#platform/postgres';
import { buildLimit, toListPage, type ListPage, type ListRow, type PageRequest } from '#api/json-api';
import {
  requirePermission,
  requirePermittedRow,
  requireCurrentAccess,
  listInOrganization,
  selectPermittedScopes,
  type Actor,
  type Identity,
  type Permission,
  type PermissionScope,
  hasOrganizationName,
} from '#api/access';
import type { Invitation, MembershipStatus } from './membership.js';
import { HIDDEN_ID, selectInvitation, isAccountHidden } from './visible-accounts.queries.js';
import { requireTeamRead, type TeamReadScope, type TeamScope } from '../team-access/team-permission.js';
import { isVisibleTeam, selectOwners, selectTeamScopeColumns } from '../teams/teams.queries.js';
import { isUsernameTaken } from '../users/user-names.js';
import type { UserRow } from '../users/users.queries.js';

export type MembershipRow = PermissionScope & {
  readonly id: string;
  readonly organization: string;
  readonly organizationName: string;
  readonly user: string;
  readonly person: UserRow;
  readonly email: string | null;
  readonly status: MembershipStatus;
  readonly createdAt: Timestamp;
  /** Null if the person has not been active in the organization, and while the person is only invited. */
  readonly lastActiveAt: Timestamp | null;
  /** Ids of the person's teams that the caller can see. */
  readonly teams: readonly string[];
};

// An invitation shows the typed address. A membership shows the typed spelling while it is still the person's address.
const EMAIL = sql.raw(`case when m.status = 'invited' then coalesce(m.email, u.email)
  when lower(u.email) <> lower(m.email) then u.email else coalesce(m.email, u.email) end`);

// Earlier activity of an invited person would reveal the account.
const LAST_ACTIVE_AT = sql.raw(`case when m.status = 'active' then (
  select a.last_active_at from member_activities a where a.organization = m.organization and a.user_id = m.user_id) end`);

const selectVisibleName = (actor: Identity): Sql =>
  sql`case when ${isAccountHidden(actor, 'm')} then ${EMAIL} else u.username end`;

const selectColumns = (actor: Identity): Sql => sql`m.id, m.organization, o.name as "organizationName",
  case when ${isAccountHidden(actor, 'm')} then ${HIDDEN_ID.m} else u.id end as "user",
  case when ${isAccountHidden(actor, 'm')}
       then jsonb_build_object('id', ${HIDDEN_ID.m}, 'username', ${EMAIL}, 'email', ${EMAIL},
                               'unconfirmedEmail', null, 'siteAdmin', false, 'suspended', false)
       else jsonb_build_object('id', u.id, 'username', u.username, 'email', u.email,
                               'unconfirmedEmail', u.unconfirmed_email, 'siteAdmin', u.site_admin,
                               'suspended', u.suspended)
  end as person,
  ${EMAIL} as email, m.status, m.created_at as "createdAt",
  ${LAST_ACTIVE_AT} as "lastActiveAt",
  array(select t.id from team_members tm join teams t on t.id = tm.team
         where tm.user_id = u.id and t.organization = m.organization and ${isVisibleTeam(actor)} order by t.id) as teams`;

const FROM = sql.raw(
  'from organization_memberships m join organizations o on o.id = m.organization join users u on u.id = m.user_id',
);

export const selectMembershipById = (id: string, actor: Identity): Sql =>
  sql`select ${selectColumns(actor)} ${FROM} where m.id = ${id}`;

export const findMembership = async (database: Database, actor: Actor, id: string): Promise<MembershipRow> => {
  const row = await database.row<MembershipRow>(
    sql`${selectMembershipById(id, actor)} and ${requireCurrentAccess(actor)}`,
  );
  return requirePermittedRow(actor, 'read-memberships', row);
};

type MembershipFilter = {
  readonly search: string | undefined;
  readonly status: MembershipStatus | undefined;
  readonly emails: readonly string[];
};

const buildConditions = ({ search, status, emails }: MembershipFilter, actor: Actor): readonly Sql[] => [
  ...(status ? [sql`m.status = ${status}`] : []),
  ...(emails.length > 0 ? [sql`lower(${EMAIL}) = any (${emails.map((email) => email.toLowerCase())}::text[])`] : []),
  ...(search
    ? [
        sql`(position(lower(${search}) in lower(${selectVisibleName(actor)})) > 0 or position(lower(${search}) in lower(${EMAIL})) > 0)`,
      ]
    : []),
];

/** Returns one page and the count of all memberships, from one statement, and the organization's id. */
export const listMemberships = (
  database: Database,
  actor: Actor,
  organization: string,
  page: PageRequest,
  filter: MembershipFilter,
): Promise<ListPage<MembershipRow> & { readonly organization: string }> => {
  const where = sql.and([sql`m.organization = owner.id`, ...buildConditions(filter, actor)]);
  const columns = sql`${selectColumns(actor)}, ${selectVisibleName(actor)} as name`;
  const list = { organization, permission: 'read-memberships', columns, from: FROM, where } as const;
  return listInOrganization(database, actor, { ...list, order: sql.raw('name') }, page);
};

/** Returns one page of a team's memberships by name, invited and active, if the caller can see the team. */
export const listMembershipsOfTeam = async (
  database: Database,
  actor: Actor,
  team: string,
  page: PageRequest,
  filter: MembershipFilter,
): Promise<ListPage<MembershipRow> & { readonly organization: string }> => {
  const where = sql.and([
    sql`m.organization = scope.organization`,
    sql`m.user_id in (select user_id from team_members where team = ${team})`,
    ...buildConditions(filter, actor),
  ]);
  const scopes = sql`
    select ${selectTeamScopeColumns(actor)} from teams t join organizations o on o.id = t.organization
     where t.id = ${team} and ${requireCurrentAccess(actor)}`;
  const rows = await database.slowRows<
    ListRow<MembershipRow & { name: string }, { scope: TeamReadScope; total: number }>
  >(
    actor,
    sql`
    select to_jsonb(scope) as scope, (select count(*) ${FROM} where ${where}) as total, page.*
      from ${selectPermittedScopes(actor, 'read-teams', scopes)} scope
      left join lateral (select ${selectColumns(actor)}, ${selectVisibleName(actor)} as name ${FROM} where ${where}
                          order by name ${buildLimit(page)}) page on true
     order by page.name`,
  );
  const [first] = rows;
  if (!first) throw notFound();
  requireTeamRead(actor, first.scope);
  return { ...toListPage(rows), organization: first.scope.organization };
};

/** Returns a condition that excludes organizations that refuse the address of the request. */
const isOpenAtAddress = ({ closedTo }: Actor, organization: Sql): Sql => {
  const refusing = [...closedTo].flatMap(([id, reason]) => (reason === 'address' ? [id] : []));
  return refusing.length === 0 ? sql`true` : sql`${organization} <> all (${refusing}::text[])`;
};

/** Returns one page of the caller's own memberships and invitations. */
export const listOwnMemberships = async (
  database: Database,
  actor: Actor,
  page: PageRequest,
): Promise<ListPage<MembershipRow>> => {
  const { organization: only } = actor.restriction;
  const isInScope = only === null ? sql`true` : sql`m.organization = ${only}`;
  const isOwn = sql`m.user_id = ${actor.id} and ${isInScope} and ${isOpenAtAddress(actor, sql.raw('m.organization'))}`;
  const rows = await database.slowRows<ListRow<MembershipRow & { name: string }, { total: number }>>(
    actor,
    sql`
    select total.n as total, page.*
      from (select count(*) as n from organization_memberships m where ${isOwn} and ${requireCurrentAccess(actor)}) total
      left join lateral (select ${selectColumns(actor)}, o.name ${FROM} where ${isOwn}
                          order by o.name ${buildLimit(page)}) page on true
     order by page.name`,
  );
  return toListPage(rows);
};

/** A member of a team. `id` is null for users without a membership in the organization, as in old logs. */
type MemberRow = MembershipRow | { readonly id: null; readonly person: UserRow };

export const loadMembers = (
  database: Database,
  actor: Actor,
  organization: string,
  users: readonly string[],
): Promise<MemberRow[]> =>
  database.slowRows<MemberRow>(
    actor,
    sql`
    select ${selectColumns(actor)}
      from users u left join organization_memberships m on m.user_id = u.id and m.organization = ${organization}
      left join organizations o on o.id = m.organization
     where u.id = any (${users}::text[]) order by ${selectVisibleName(actor)}`,
  );

/** The organization, the person and the teams of an invitation, as loaded for its decision. */
export type OrganizationForInvitation = {
  readonly organization: string;
  readonly organizationVersion: number;
  readonly person: {
    readonly id: string;
    readonly username: string;
    readonly version: number;
    readonly status: MembershipStatus | null;
    /** Whether the person is in a team of the organization. In old logs such a person has no membership. */
    readonly isMember: boolean;
  } | null;
  readonly isUsernameTaken: boolean;
  /** Invitations that nobody has accepted. */
  readonly pendingOfOrganization: number;
  readonly pendingOfCaller: number;
  readonly teams: readonly (TeamScope & { readonly id: string; readonly snapshot: StreamSnapshot })[];
};

export const loadOrganizationForInvitation = async (
  database: Database,
  actor: Actor,
  organizationName: string,
  request: { readonly email: string; readonly username: string; readonly teams: readonly string[] },
): Promise<OrganizationForInvitation> => {
  const row = await database.row<OrganizationForInvitation>(sql`
    select o.id as organization, so.version as "organizationVersion",
           (select jsonb_build_object(
                     'id', u.id, 'username', u.username, 'status', m.status, 'version', us.version,
                     'isMember', exists (select 1 from team_members tm join teams t on t.id = tm.team
                                          where tm.user_id = u.id and t.organization = o.id))
              from users u join event_store.streams us on us.stream = u.id
              left join organization_memberships m on m.user_id = u.id and m.organization = o.id
             where lower(u.email) = lower(${request.email})) as person,
           ${isUsernameTaken(request.username)} as "isUsernameTaken",
           (select count(*) from organization_memberships pending
             where pending.organization = o.id and pending.status = 'invited') as "pendingOfOrganization",
           (select count(*) from organization_memberships pending
             where pending.invited_by = ${actor.id} and pending.status = 'invited') as "pendingOfCaller",
           -- Sorted by id, not as in the request: two such appends could deadlock otherwise.
           coalesce((select jsonb_agg(to_jsonb(scope) order by scope.id) from (
             select t.id, ${selectTeamScopeColumns(actor)}, ${buildSnapshotJson('s')} as snapshot
               from teams t join event_store.streams s on s.stream = t.id
              where t.organization = o.id and t.id = any (${request.teams}::text[])) scope), '[]') as teams
      from organizations o join event_store.streams so on so.stream = o.id
     where ${hasOrganizationName('o', organizationName)} and ${requireCurrentAccess(actor)}`);
  return requirePermittedRow(actor, 'manage-memberships', row);
};

/** A team of a person that leaves, with the data for the removal. */
type TeamToLeave = TeamScope & {
  readonly id: string;
  readonly owners: readonly string[] | null;
  readonly snapshot: StreamSnapshot;
};

export type MembershipForCommand = PermissionScope & {
  readonly id: string;
  readonly organization: string;
  readonly user: string;
  readonly username: string;
  readonly invitation: Invitation | null;
  readonly snapshot: StreamSnapshot;
  readonly teams: readonly TeamToLeave[];
};

export const loadMembershipForCommand = async (
  database: Database,
  actor: Actor,
  permission: (row: MembershipForCommand) => Permission,
  id: string,
): Promise<MembershipForCommand> => {
  const row = await database.row<MembershipForCommand>(sql`
    select m.id, m.organization, u.id as "user", u.username, ${selectInvitation('m')} as invitation, ${buildSnapshotJson('s')} as snapshot,
           -- Sorted by id as well, because the command writes to each of these streams.
           coalesce((select jsonb_agg(to_jsonb(team) order by team.id) from (
             select t.id, ${selectTeamScopeColumns(actor)}, ${selectOwners(sql.raw('t.id'))} as owners, ${buildSnapshotJson('ts')} as snapshot
               from team_members tm join teams t on t.id = tm.team join event_store.streams ts on ts.stream = t.id
              where tm.user_id = u.id and t.organization = m.organization) team), '[]') as teams
      ${FROM} join event_store.streams s on s.stream = m.id
     where m.id = ${id} and ${requireCurrentAccess(actor)}`);
  if (!row) throw notFound();
  requirePermission(actor, 'read-memberships', row);
  requirePermission(actor, permission(row), row);
  return row;
};

export const isInTeams = (organization: string, user: string): Sql => sql`
  exists (select 1 from team_members tm join teams t on t.id = tm.team
           where tm.user_id = ${user} and t.organization = ${organization})`;
