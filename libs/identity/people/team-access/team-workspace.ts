import { toAttributeName, runAllChecks, conflict, requireActive, type Decider, type Message } from '#platform/kernel';
import { WORKSPACE_LEVEL_ACCESS, type WorkspaceAccess, type WorkspaceLevel } from '#api/access/rules';
import {
  checkFields,
  isSameAccess,
  refuseOwnersTeam,
  computeAccessTerms,
  type NamedFields,
  type ReferencedTeam,
  type AccessScale,
  type AccessTerms,
} from './team-access.js';

type WorkspaceTerms = AccessTerms<WorkspaceLevel, WorkspaceAccess>;

export const WORKSPACE_ACCESS_SCALE: AccessScale<WorkspaceLevel, WorkspaceAccess> = {
  permissionsByLevel: WORKSPACE_LEVEL_ACCESS,
  least: {
    runs: 'read',
    variables: 'none',
    stateVersions: 'none',
    sentinelMocks: 'none',
    workspaceLocking: false,
    runTasks: false,
    policyOverrides: false,
  },
  pointer: (field) => `/data/attributes/${toAttributeName(field)}`,
};

/** Access of a team to a workspace. `teamName` is the name at the time of the event, for the audit trail. */
export type TeamWorkspaceEvent =
  | Message<'TeamWorkspaceAdded', { team: string; teamName: string; workspace: string } & WorkspaceTerms>
  | Message<'TeamWorkspaceUpdated', { teamName: string; workspace: string } & WorkspaceTerms>
  | Message<'TeamWorkspaceRemoved', { teamName: string; workspace: string }>;

export type TeamWorkspaceCommand =
  | Message<
      'AddTeamWorkspace',
      { team: ReferencedTeam; workspace: string; access: WorkspaceLevel; fields: NamedFields<WorkspaceAccess> }
    >
  | Message<
      'UpdateTeamWorkspace',
      { teamName: string; access?: WorkspaceLevel | undefined; fields: NamedFields<WorkspaceAccess> }
    >
  | Message<'RemoveTeamWorkspace', { teamName: string }>;

type TeamWorkspaceState =
  | { readonly status: 'absent' | 'removed' }
  | { readonly status: 'active'; readonly workspace: string; readonly terms: WorkspaceTerms };

export const teamWorkspace: Decider<TeamWorkspaceState, TeamWorkspaceCommand, TeamWorkspaceEvent> = {
  version: 2,
  initial: { status: 'absent' },
  decide: {
    AddTeamWorkspace: ({ team, workspace, access, fields }, state) => {
      if (state.status !== 'absent') throw conflict('Team access exists already');
      runAllChecks(
        () => refuseOwnersTeam(team, 'workspace'),
        () => checkFields(access, fields, WORKSPACE_ACCESS_SCALE),
      );
      const terms = computeAccessTerms(null, access, fields, WORKSPACE_ACCESS_SCALE);
      return [{ type: 'TeamWorkspaceAdded', data: { team: team.id, teamName: team.name, workspace, ...terms } }];
    },
    UpdateTeamWorkspace: ({ teamName, access, fields }, state) => {
      const { workspace, terms: before } = requireActive(state);
      const terms = computeAccessTerms(before, access ?? before.access, fields, WORKSPACE_ACCESS_SCALE);
      return isSameAccess(terms, before)
        ? []
        : [{ type: 'TeamWorkspaceUpdated', data: { teamName, workspace, ...terms } }];
    },
    RemoveTeamWorkspace: ({ teamName }, state) => [
      { type: 'TeamWorkspaceRemoved', data: { teamName, workspace: requireActive(state).workspace } },
    ],
  },
  evolve: {
    TeamWorkspaceAdded: ({ workspace, access, custom }) => ({
      status: 'active',
      workspace,
      terms: { access, custom },
    }),
    TeamWorkspaceUpdated: ({ workspace, access, custom }) => ({
      status: 'active',
      workspace,
      terms: { access, custom },
    }),
    TeamWorkspaceRemoved: () => ({ status: 'removed' }),
  },
};
