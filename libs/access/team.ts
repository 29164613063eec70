import { conflict, notFound, type Decider, type Message } from '#kernel';

/** What a team may do in its whole organization (clients.md §3, `organization-access`). */
export const ORGANIZATION_ACCESS = [
  'manageWorkspaces',
  'manageProjects',
  'manageProviders',
  'manageModules',
  'managePolicies',
  'managePolicyOverrides',
  'manageRunTasks',
  'manageVcsSettings',
  'manageAgentPools',
  'readWorkspaces',
  'readProjects',
  'manageMembership',
  'manageTeams',
  'manageOrganizationAccess',
  'accessSecretTeams',
] as const;

export type OrganizationAccess = { readonly [A in (typeof ORGANIZATION_ACCESS)[number]]: boolean };

export const NO_ORGANIZATION_ACCESS = Object.fromEntries(
  ORGANIZATION_ACCESS.map((access) => [access, false]),
) as OrganizationAccess;

/** The team that every organization is born with, whose members own it. */
export const OWNERS = 'owners';

export type TeamEvent =
  | Message<
      'TeamCreated',
      { name: string; visibility: 'secret' | 'organization'; organizationAccess: OrganizationAccess }
    >
  | Message<'TeamMemberAdded', { user: string; username: string }>;

export type TeamCommand =
  | Message<
      'CreateTeam',
      { name: string; visibility: 'secret' | 'organization'; organizationAccess: OrganizationAccess }
    >
  | Message<'AddTeamMember', { user: string; username: string }>;

type Team =
  | { readonly status: 'absent' }
  | { readonly status: 'active'; readonly name: string; readonly members: readonly string[] };

export const team: Decider<Team, TeamCommand, TeamEvent> = {
  version: 1,
  initial: { status: 'absent' },
  decide: {
    CreateTeam: ({ name, visibility, organizationAccess }, state) => {
      if (state.status === 'active') throw conflict('Team exists already');
      return [{ type: 'TeamCreated', data: { name, visibility, organizationAccess } }];
    },
    AddTeamMember: ({ user, username }, state) => {
      if (state.status === 'absent') throw notFound();
      return state.members.includes(user) ? [] : [{ type: 'TeamMemberAdded', data: { user, username } }];
    },
  },
  evolve: {
    TeamCreated: ({ name }) => ({ status: 'active', name, members: [] }),
    TeamMemberAdded: ({ user }, state) =>
      state.status === 'active' ? { ...state, members: [...state.members, user] } : state,
  },
};
