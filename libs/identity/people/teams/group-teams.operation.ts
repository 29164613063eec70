import { notFound, sql, type EventContext, type Ids } from '#platform/kernel';
import {
  buildSnapshotJson,
  decideWrite,
  expectVersion,
  newStream,
  raiseConflictWhen,
  type EventStore,
  type StreamSnapshot,
  type StreamWrite,
} from '#storage/event-store';
import { membership, type Invitation, type MembershipStatus } from '../memberships/membership.js';
import { selectInvitation } from '../memberships/visible-accounts.queries.js';
import { team } from './team.js';
import { isOwnerless, selectOwners } from './teams.queries.js';

type GroupDependencies = { readonly store: EventStore; readonly ids: Ids };

/** The groups of a user at an identity provider. */
export type UserGroups = {
  readonly user: string;
  readonly groups: readonly string[];
  /** Groups that the provider manages: teams of other groups stay unchanged. Null if it manages all groups. */
  readonly managed: readonly string[] | null;
  /** The same for owners teams, if other rules apply to them. */
  readonly ofOwners?: Pick<UserGroups, 'groups' | 'managed'>;
  /** Whether a suspended user counts as unknown. Default: false. */
  readonly refusesSuspended?: boolean;
};

type TeamOfGroup = {
  readonly id: string;
  readonly organization: string;
  readonly organizationVersion: number;
  /** Whether the user is among the members. */
  readonly isMember: boolean;
  readonly isInGroup: boolean;
  readonly owners: readonly string[] | null;
  readonly snapshot: StreamSnapshot;
  readonly membership: string | null;
  readonly status: MembershipStatus | null;
  readonly invitation: Invitation | null;
  readonly membershipSnapshot: StreamSnapshot | null;
};

type UserToMap = { readonly username: string; readonly version: number; readonly teams: readonly TeamOfGroup[] };

/** Teams that one append changes. More teams need several appends. */
const TEAMS_PER_APPEND = 50;

const MEMBERSHIP_RACE = 'organization_memberships_organization_user_key';

/**
 * Makes the teams of a user match the user's groups: the user joins each team whose `sso_team_id` is one of the groups,
 * and leaves teams whose `sso_team_id` is not. In an organization with a joined team, the user becomes an active member,
 * also from an invitation. Memberships never end, because they can have other reasons. The last active owner of an
 * organization stays an owner. Throws `not-found` for an unknown user.
 */
export const mapGroupsToTeams = async (
  dependencies: GroupDependencies,
  userGroups: UserGroups,
  context: EventContext,
): Promise<void> => {
  let changed: number;
  do {
    changed = await dependencies.store.retryOnConflict(() => changeTeams(dependencies, userGroups, context), {
      races: MEMBERSHIP_RACE,
    });
  } while (changed === TEAMS_PER_APPEND);
};

const changeTeams = async (
  dependencies: GroupDependencies,
  userGroups: UserGroups,
  context: EventContext,
): Promise<number> => {
  const { store } = dependencies;
  const { user } = userGroups;
  const row = await loadUserToMap(store, userGroups);
  if (!row) throw notFound();
  const { username, version, teams } = row;
  if (teams.length === 0) return 0;
  const person = { user, username };
  const joined = listFirstOfOrganizations(teams.filter(({ isInGroup }) => isInGroup));
  await store.append(
    [
      expectVersion(user, version),
      ...listFirstOfOrganizations(teams).map((one) => expectVersion(one.organization, one.organizationVersion)),
      ...listFirstOfOrganizations(teams)
        .filter(({ organization }) => !joined.some((one) => one.organization === organization))
        .flatMap((one) => expectMembership(one)),
      ...(await Promise.all(joined.map((one) => prepareMembership(dependencies, one, person)))).flat(),
      ...(await Promise.all(teams.map((one) => prepareTeamChange(store, one, person)))),
    ],
    context,
    teams.filter(({ owners }) => owners).map(({ id }) => raiseConflictWhen(isOwnerless(id))),
  );
  return teams.length;
};

/** Loads the teams to change, sorted by id like all appends to several streams. */
const loadUserToMap = (
  store: EventStore,
  { user, groups, managed, ofOwners = { groups, managed }, refusesSuspended = false }: UserGroups,
): Promise<UserToMap | undefined> =>
  store.database.row<UserToMap>(sql`
    select u.username, su.version,
           coalesce((select jsonb_agg(to_jsonb(change) order by change.id) from (
             select t.id, t.organization, so.version as "organizationVersion", t."isMember", t."isInGroup", t.owners,
                    ${buildSnapshotJson('st')} as snapshot, ou.id as membership, ou.status,
                    ${selectInvitation('ou')} as invitation,
                    case when sou.stream is not null then ${buildSnapshotJson('sou')} end as "membershipSnapshot"
               from (select t.id, t.organization,
                            t.sso_team_id = any (case when o.owners_team = t.id then ${ofOwners.groups}::text[]
                                                      else ${groups}::text[] end) as "isInGroup",
                            exists (select 1 from team_members tm where tm.team = t.id and tm.user_id = u.id) as "isMember",
                            ${selectOwners(sql.raw('t.id'))} as owners
                       from teams t join organizations o on o.id = t.organization
                      where t.sso_team_id is not null
                        and case when o.owners_team = t.id
                                 then ${ofOwners.managed === null} or t.sso_team_id = any (${ofOwners.managed ?? []}::text[])
                                 else ${managed === null} or t.sso_team_id = any (${managed ?? []}::text[]) end
                        and (t.sso_team_id = any (${[...groups, ...ofOwners.groups]}::text[])
                             or t.id in (select team from team_members where user_id = u.id))) t
               join event_store.streams st on st.stream = t.id
               join event_store.streams so on so.stream = t.organization
               left join organization_memberships ou on ou.user_id = u.id and ou.organization = t.organization
               left join event_store.streams sou on sou.stream = ou.id
              where case when t."isInGroup" then not t."isMember" or ou.status = 'invited'
                         else t."isMember" and t.owners is distinct from jsonb_build_array(u.id) end
              order by t.id limit ${TEAMS_PER_APPEND}) change), '[]') as teams
      from users u join event_store.streams su on su.stream = u.id
     where u.id = ${user} and not (${refusesSuspended} and u.suspended)`);

const listFirstOfOrganizations = (teams: readonly TeamOfGroup[]): readonly TeamOfGroup[] => [
  ...new Map(teams.map((one) => [one.organization, one])).values(),
];

const expectMembership = ({ membership: id, membershipSnapshot }: TeamOfGroup): readonly StreamWrite[] =>
  id !== null && membershipSnapshot !== null ? [expectVersion(id, membershipSnapshot.version)] : [];

type MappedPerson = { readonly user: string; readonly username: string };

/** Returns the write that makes the user an active member; a precondition if the user is one. */
const prepareMembership = async (
  { store, ids }: GroupDependencies,
  team: TeamOfGroup,
  { user, username }: MappedPerson,
): Promise<readonly StreamWrite[]> => {
  const { organization, membership: existing, status, membershipSnapshot } = team;
  if (status === 'active') return expectMembership(team);
  if (existing !== null) {
    const loaded = await store.restore(existing, membership, membershipSnapshot);
    return [decideWrite(membership, loaded, organization, { type: 'AcceptMembership', data: { username } })];
  }
  const id = ids.next('ou');
  const data = { id, user, username, email: null, status: 'active' } as const;
  return [decideWrite(membership, newStream(id, membership), organization, { type: 'CreateMembership', data })];
};

const prepareTeamChange = async (
  store: EventStore,
  { id, organization, isInGroup, owners, invitation, snapshot }: TeamOfGroup,
  person: MappedPerson,
): Promise<StreamWrite> => {
  const loaded = await store.restore(id, team, snapshot);
  return decideWrite(
    team,
    loaded,
    organization,
    isInGroup
      ? // The same append ends the invitation.
        { type: 'AddTeamMembers', data: { members: [{ ...person, invitation: null }] } }
      : { type: 'RemoveTeamMembers', data: { members: [{ ...person, invitation }], owners } },
  );
};
