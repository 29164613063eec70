import { attributeOf, checkAll, conflict, requireActive, unprocessable, type Decider, type Message } from '#kernel';
import { WORKSPACE_MEANING, type WorkspaceAccess, type WorkspaceLevel } from '#access/rules';
import {
  checkFields,
  isSame,
  TEAM_POINTER,
  termsAfter,
  type Named,
  type NamedTeam,
  type Scale,
  type Terms,
} from './team-access.js';

export type WorkspaceTerms = Terms<WorkspaceLevel, WorkspaceAccess>;

export const WORKSPACE_SCALE: Scale<WorkspaceLevel, WorkspaceAccess> = {
  meaning: WORKSPACE_MEANING,
  least: {
    runs: 'read',
    variables: 'none',
    stateVersions: 'none',
    sentinelMocks: 'none',
    workspaceLocking: false,
    runTasks: false,
    policyOverrides: false,
  },
  pointer: (field) => `/data/attributes/${attributeOf(field)}`,
};

/** What a team may do on a workspace. The team's name is the one that it goes by at the time, for the trail. */
export type TeamWorkspaceEvent =
  | Message<'TeamWorkspaceAdded', { team: string; teamName: string; workspace: string } & WorkspaceTerms>
  | Message<'TeamWorkspaceUpdated', { teamName: string; workspace: string } & WorkspaceTerms>
  | Message<'TeamWorkspaceRemoved', { teamName: string; workspace: string }>;

export type TeamWorkspaceCommand =
  | Message<
      'AddTeamWorkspace',
      { team: NamedTeam; workspace: string; access: WorkspaceLevel; fields: Named<WorkspaceAccess> }
    >
  | Message<
      'UpdateTeamWorkspace',
      { teamName: string; access?: WorkspaceLevel | undefined; fields: Named<WorkspaceAccess> }
    >
  | Message<'RemoveTeamWorkspace', { teamName: string }>;

type TeamWorkspace =
  | { readonly status: 'absent' | 'removed' }
  | { readonly status: 'active'; readonly workspace: string; readonly terms: WorkspaceTerms };

const refuseOwners = ({ isOwners }: NamedTeam): void => {
  if (isOwners) throw unprocessable('The owners team has access to every workspace already', TEAM_POINTER);
};

export const teamWorkspace: Decider<TeamWorkspace, TeamWorkspaceCommand, TeamWorkspaceEvent> = {
  version: 2,
  initial: { status: 'absent' },
  decide: {
    AddTeamWorkspace: ({ team, workspace, access, fields }, state) => {
      if (state.status !== 'absent') throw conflict('Team access exists already');
      checkAll(
        () => refuseOwners(team),
        () => checkFields(access, fields, WORKSPACE_SCALE),
      );
      const terms = termsAfter(null, access, fields, WORKSPACE_SCALE);
      return [{ type: 'TeamWorkspaceAdded', data: { team: team.id, teamName: team.name, workspace, ...terms } }];
    },
    UpdateTeamWorkspace: ({ teamName, access, fields }, state) => {
      const { workspace, terms: before } = requireActive(state);
      const terms = termsAfter(before, access ?? before.access, fields, WORKSPACE_SCALE);
      return isSame(terms, before) ? [] : [{ type: 'TeamWorkspaceUpdated', data: { teamName, workspace, ...terms } }];
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
