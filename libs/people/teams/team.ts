import {
  runAllChecks,
  checkName,
  conflict,
  pickChanged,
  PATH_NAME_RULE,
  hasNoChanges,
  requireActive,
  unprocessable,
  type Decider,
  type Message,
} from '#kernel';
import { NO_ORGANIZATION_ACCESS, type OrganizationAccess } from '#access/rules';
import type { Invitation } from '../memberships/membership.js';

/** The team that every organization is born with, whose members own it. */
export const OWNERS_TEAM_NAME = 'owners';

/** Secret teams are seen by their members, and by who may see all of them. */
export const VISIBILITIES = ['secret', 'organization'] as const;

export type TeamSettings = {
  readonly name: string;
  readonly visibility: (typeof VISIBILITIES)[number];
  readonly ssoTeamId: string | null;
  readonly allowMemberTokenManagement: boolean;
};

export type TeamChanges = Partial<TeamSettings & { readonly organizationAccess: Partial<OrganizationAccess> }>;

type TeamCreation = TeamSettings & { readonly organizationAccess: OrganizationAccess };

/** `invitation`: the member's invitation to the organization while it is not accepted, otherwise null. */
export type TeamMember = { readonly user: string; readonly username: string; readonly invitation: Invitation | null };

export type TeamEvent =
  | Message<'TeamCreated', TeamCreation>
  | Message<'TeamUpdated', { changes: TeamChanges }>
  | Message<'TeamDeleted', { name: string }>
  | Message<'TeamMemberAdded', TeamMember>
  | Message<'TeamMemberRemoved', TeamMember>;

/** `ofOwners`: whether it is the team that owns the organization, which its name does not tell. */
export type TeamCommand =
  | Message<'CreateTeam', TeamChanges & { readonly name: string }>
  | Message<'UpdateTeam', { changes: TeamChanges; ofOwners: boolean }>
  | Message<'DeleteTeam', { ofOwners: boolean }>
  | Message<'AddTeamMembers', { members: readonly TeamMember[] }>
  /** `owners`: those who own the organization by this team and have accepted; null where it gives no ownership. */
  | Message<'RemoveTeamMembers', { members: readonly TeamMember[]; owners: readonly string[] | null }>;

type ActiveTeam = TeamCreation & { readonly status: 'active'; readonly members: readonly string[] };
type TeamState = { readonly status: 'absent' | 'deleted' } | ActiveTeam;

const NEW_TEAM_DEFAULTS: Omit<TeamCreation, 'name'> = {
  visibility: 'secret',
  ssoTeamId: null,
  allowMemberTokenManagement: true,
  organizationAccess: NO_ORGANIZATION_ACCESS,
};

const NAME_RULE = {
  pattern: /^[\w-]+(?: +[\w-]+)*$/,
  allowed: `${PATH_NAME_RULE.allowed}, and spaces between them`,
  most: 90,
};

/** The rules for single attributes; those that are absent are not checked. */
export const checkTeam = ({ name }: { readonly name?: string | undefined }): void => {
  if (name !== undefined) checkName(name, NAME_RULE);
};

/** The flags that a change would turn. */
export const pickChangedAccess = (
  before: OrganizationAccess,
  { organizationAccess = {} }: TeamChanges,
): Partial<OrganizationAccess> => pickChanged(before, organizationAccess);

/** What a command says that is not so yet, also of single flags. */
const pickTeamChanges = (state: ActiveTeam, changes: TeamChanges): TeamChanges => {
  const { organizationAccess: _, ...settings } = changes;
  const turned = pickChangedAccess(state.organizationAccess, changes);
  return { ...pickChanged(state, settings), ...(hasNoChanges(turned) ? {} : { organizationAccess: turned }) };
};

/** The owners stay what they are, or an organization could be left without a way in. */
const checkOwners = ({ name, visibility, organizationAccess }: TeamChanges): void => {
  const refuseChange = (value: unknown, detail: string, attribute: string): void => {
    if (value !== undefined) throw unprocessable(detail, attribute);
  };
  runAllChecks(
    () => refuseChange(name, 'The owners team cannot be renamed', 'name'),
    () => refuseChange(visibility, 'The owners team cannot be made secret', 'visibility'),
    () =>
      refuseChange(
        organizationAccess,
        'The organization access of the owners team cannot be changed',
        'organization-access',
      ),
  );
};

/** Each once, however often they are named. In one order, or two changes of the same members wait for one another. */
const deduplicateMembers = (members: readonly TeamMember[]): TeamMember[] =>
  [
    ...new Map(members.map(({ user, username, invitation }) => [user, { user, username, invitation }])).values(),
  ].toSorted((a, b) => (a.user < b.user ? -1 : 1));

const removesLastOwner = (owners: readonly string[], removed: readonly TeamMember[]): boolean =>
  owners.length > 0 && owners.every((owner) => removed.some(({ user }) => user === owner));

export const team: Decider<TeamState, TeamCommand, TeamEvent> = {
  version: 3,
  initial: { status: 'absent' },
  decide: {
    CreateTeam: ({ organizationAccess, ...settings }, state) => {
      if (state.status !== 'absent') throw conflict('Team exists already');
      checkTeam(settings);
      const all = { ...NEW_TEAM_DEFAULTS, ...settings };
      return [
        {
          type: 'TeamCreated',
          data: {
            name: all.name,
            visibility: all.visibility,
            ssoTeamId: all.ssoTeamId,
            allowMemberTokenManagement: all.allowMemberTokenManagement,
            organizationAccess: { ...NEW_TEAM_DEFAULTS.organizationAccess, ...organizationAccess },
          },
        },
      ];
    },
    UpdateTeam: ({ changes, ofOwners }, state) => {
      const changed = pickTeamChanges(requireActive(state), changes);
      (ofOwners ? checkOwners : checkTeam)(changed);
      return hasNoChanges(changed) ? [] : [{ type: 'TeamUpdated', data: { changes: changed } }];
    },
    DeleteTeam: ({ ofOwners }, state) => {
      const { name } = requireActive(state);
      if (ofOwners) throw unprocessable('The owners team cannot be deleted');
      return [{ type: 'TeamDeleted', data: { name } }];
    },
    AddTeamMembers: ({ members }, state) => {
      const present = requireActive(state).members;
      return deduplicateMembers(members)
        .filter(({ user }) => !present.includes(user))
        .map((data) => ({ type: 'TeamMemberAdded', data }));
    },
    RemoveTeamMembers: ({ members, owners }, state) => {
      const present = requireActive(state).members;
      const removed = deduplicateMembers(members).filter(({ user }) => present.includes(user));
      if (owners && removesLastOwner(owners, removed)) {
        throw unprocessable('The last active owner of an organization cannot be removed');
      }
      return removed.map((data) => ({ type: 'TeamMemberRemoved', data }));
    },
  },
  evolve: {
    TeamCreated: (born) => ({ status: 'active', ...born, members: [] }),
    TeamUpdated: ({ changes: { organizationAccess, ...settings } }, state) =>
      state.status === 'active'
        ? { ...state, ...settings, organizationAccess: { ...state.organizationAccess, ...organizationAccess } }
        : state,
    TeamDeleted: () => ({ status: 'deleted' }),
    TeamMemberAdded: ({ user }, state) =>
      state.status === 'active' ? { ...state, members: [...state.members, user] } : state,
    TeamMemberRemoved: ({ user }, state) =>
      state.status === 'active' ? { ...state, members: state.members.filter((member) => member !== user) } : state,
  },
};
