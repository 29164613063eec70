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
} from '#platform/kernel';
import { NO_ORGANIZATION_ACCESS, type OrganizationAccess } from '#api/access/rules';
import type { Invitation } from '../memberships/membership.js';

/** Name of the team that every organization is created with, whose members own it. */
export const OWNERS_TEAM_NAME = 'owners';

/** Secret teams are visible to their members and to callers that may see all secret teams. */
export const VISIBILITIES = ['secret', 'organization'] as const;

export type TeamSettings = {
  readonly name: string;
  readonly visibility: (typeof VISIBILITIES)[number];
  readonly ssoTeamId: string | null;
  readonly allowMemberTokenManagement: boolean;
};

export type TeamChanges = Partial<TeamSettings & { readonly organizationAccess: Partial<OrganizationAccess> }>;

type TeamCreation = TeamSettings & { readonly organizationAccess: OrganizationAccess };

/** `invitation`: the member's invitation to the organization until it is accepted, otherwise null. */
export type TeamMember = { readonly user: string; readonly username: string; readonly invitation: Invitation | null };

export type TeamDeleted = Message<'TeamDeleted', { name: string }>;

export type TeamEvent =
  | Message<'TeamCreated', TeamCreation>
  | Message<'TeamUpdated', { changes: TeamChanges }>
  | TeamDeleted
  | Message<'TeamMemberAdded', TeamMember>
  | Message<'TeamMemberRemoved', TeamMember>;

/** `ofOwners`: whether this is the owners team. The name does not identify it. */
export type TeamCommand =
  | Message<'CreateTeam', TeamChanges & { readonly name: string }>
  | Message<'UpdateTeam', { changes: TeamChanges; ofOwners: boolean }>
  | Message<'DeleteTeam', { ofOwners: boolean }>
  | Message<'AddTeamMembers', { members: readonly TeamMember[] }>
  /** `owners`: ids of the active owners if this is the owners team, otherwise null. */
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

/** Checks the attributes that are present. */
export const checkTeam = ({ name }: { readonly name?: string | undefined }): void => {
  if (name !== undefined) checkName(name, NAME_RULE);
};

/** Returns the flags that the change turns on or off. */
export const pickChangedAccess = (
  before: OrganizationAccess,
  { organizationAccess = {} }: TeamChanges,
): Partial<OrganizationAccess> => pickChanged(before, organizationAccess);

/** Returns the attributes and single flags that differ from the state. */
const pickTeamChanges = (state: ActiveTeam, changes: TeamChanges): TeamChanges => {
  const { organizationAccess: _, ...settings } = changes;
  const changedAccess = pickChangedAccess(state.organizationAccess, changes);
  return {
    ...pickChanged(state, settings),
    ...(hasNoChanges(changedAccess) ? {} : { organizationAccess: changedAccess }),
  };
};

/** Refuses changes to the owners team that could lock everybody out of the organization. */
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

/**
 * Removes duplicates and sorts by user. Without one order, two concurrent changes of the same members could deadlock.
 */
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
    TeamCreated: (data) => ({ status: 'active', ...data, members: [] }),
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
