import { checkQuota, unprocessable, type Ids, type Quotas } from '#platform/kernel';
import {
  decideWrite,
  expectVersion,
  getFirstRow,
  newStream,
  type EventStore,
  type StreamWrite,
} from '#storage/event-store';
import { createEventContext, type Actor } from '#api/access';
import { canReadTeam, requireTeamChange } from '../team-access/team-permission.js';
import { team, type TeamMember } from '../teams/team.js';
import { checkEmail, deriveOtherUsername, deriveUsername, user } from '../users/user.js';
import { createInvitation, membership, type MembershipStatus } from './membership.js';
import type { MembershipOperations } from './organization-memberships.commands.js';
import {
  loadOrganizationForInvitation,
  selectMembershipById,
  type MembershipRow,
  type OrganizationForInvitation,
} from './organization-memberships.queries.js';

type InvitationDependencies = { readonly store: EventStore; readonly ids: Ids; readonly quotas: Quotas };

/** Unique keys that a concurrent request can take first. The retry then finds the rows of that request. */
const RACES = ['organization_memberships_organization_user_key', 'users_email_key', 'users_username_key'];

const refuseMember = ({ person }: OrganizationForInvitation): void => {
  if (!person?.status) return;
  const relation = person.status === 'invited' ? 'has already been invited to' : 'is already a member of';
  throw unprocessable(`User ${relation} the organization`, 'email');
};

/** Users that are in a team without a membership, as in old logs, become active members at once. */
const decideStatus = ({ person }: OrganizationForInvitation): MembershipStatus =>
  person?.isMember ? 'active' : 'invited';

/** Refuses one more invitation that nobody has accepted. Administrators of the site have only the limit of the organization. */
const checkPendingInvitations = (
  { pendingOfOrganization, pendingOfCaller }: OrganizationForInvitation,
  { invitationsPerOrganization, invitationsPerCaller }: Quotas,
  actor: Actor,
): void => {
  checkQuota('invitationsPerOrganization', invitationsPerOrganization, pendingOfOrganization);
  if (!actor.siteAdmin) checkQuota('invitationsPerCaller', invitationsPerCaller, pendingOfCaller);
};

/** Returns the invited person, with the write that creates an account if the person has none. */
const prepareAccount = (
  { person, isUsernameTaken }: OrganizationForInvitation,
  email: string,
  username: string,
  ids: Ids,
) => {
  // A concurrent request or job could end the account, and the append then fails.
  if (person) return { person, writes: [expectVersion(person.id, person.version)] };
  const id = ids.next('user');
  const freeUsername = isUsernameTaken ? deriveOtherUsername(username, id.slice(-6)) : username;
  const command = { type: 'CreateUser', data: { username: freeUsername, email, siteAdmin: false } } as const;
  return {
    person: { id, username: freeUsername },
    writes: [decideWrite(user, newStream(id, user), null, command)],
  };
};

const requireChangeableTeams = (
  { teams }: OrganizationForInvitation,
  requested: readonly string[],
  actor: Actor,
): void => {
  for (const [index, id] of requested.entries()) {
    const row = teams.find((candidate) => candidate.id === id);
    if (!row || !canReadTeam(actor, row)) {
      throw unprocessable(`Team ${id} does not exist`, `/data/relationships/teams/data/${index}/id`);
    }
    requireTeamChange(actor, 'manage-team-membership', row);
  }
};

const prepareTeamAdditions = (
  store: EventStore,
  { organization, teams }: OrganizationForInvitation,
  member: TeamMember,
): Promise<StreamWrite[]> =>
  Promise.all(
    teams.map(async ({ id, snapshot }) =>
      decideWrite(team, await store.restore(id, team, snapshot), organization, {
        type: 'AddTeamMembers',
        data: { members: [member] },
      }),
    ),
  );

const appendInvitation = async (
  dependencies: InvitationDependencies,
  input: MembershipOperations['InviteMember']['input'],
): Promise<MembershipRow> => {
  const { organization, email, teams, actor } = input;
  const { store, ids, quotas } = dependencies;
  // First, because it limits the length of the address. `deriveUsername` takes time that grows with the square of the
  // length.
  checkEmail(email);
  const username = deriveUsername(email);
  const loaded = await loadOrganizationForInvitation(store.database, actor, organization, { email, username, teams });
  refuseMember(loaded);
  const { person, writes } = prepareAccount(loaded, email, username, ids);
  const id = ids.next('ou');
  const status = decideStatus(loaded);
  if (status === 'invited') checkPendingInvitations(loaded, quotas, actor);
  const data = { id, user: person.id, username: person.username, email, status };
  const invitation = createInvitation({ id, email }, status);
  requireChangeableTeams(loaded, teams, actor);
  const { rows } = await store.append(
    [
      expectVersion(loaded.organization, loaded.organizationVersion),
      ...writes,
      decideWrite(membership, newStream(id, membership), loaded.organization, { type: 'CreateMembership', data }),
      ...(await prepareTeamAdditions(store, loaded, { user: person.id, username: person.username, invitation })),
    ],
    createEventContext(actor),
    [selectMembershipById(id, actor)],
  );
  return getFirstRow<MembershipRow>(rows);
};

/** Invites a person. Creates an account if no account has the address, because the members of teams are users. */
export const inviteMember = (
  dependencies: InvitationDependencies,
  input: MembershipOperations['InviteMember']['input'],
): Promise<MembershipRow> =>
  dependencies.store.retryOnConflict(() => appendInvitation(dependencies, input), { races: RACES });
