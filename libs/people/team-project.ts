import { attributeOf, checkAll, conflict, requireActive, unprocessable, type Decider, type Message } from '#kernel';
import { PROJECT_MEANING, type CustomProjectAccess, type ProjectLevel } from '#access/rules';
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

export type ProjectTerms = Terms<ProjectLevel, CustomProjectAccess>;

export const PROJECT_SCALE: Scale<ProjectLevel, CustomProjectAccess> = {
  meaning: PROJECT_MEANING,
  least: {
    runs: 'read',
    variables: 'none',
    stateVersions: 'none',
    sentinelMocks: 'none',
    runTasks: false,
    policyOverrides: false,
    create: false,
    locking: false,
    delete: false,
    move: false,
    project: { settings: 'read', teams: 'none', variableSets: 'none' },
  },
  // The API has two groups, one for the project and one for the workspaces in it.
  pointer: (field, group) =>
    `/data/attributes/${group === 'project' ? 'project-access' : 'workspace-access'}/${attributeOf(field)}`,
};

/**
 * What a team may do on a project, and in every workspace in it. The team's name is the one that it goes by at the time,
 * for the trail.
 */
export type TeamProjectEvent =
  | Message<'TeamProjectAdded', { team: string; teamName: string; project: string } & ProjectTerms>
  | Message<'TeamProjectUpdated', { teamName: string; project: string } & ProjectTerms>
  | Message<'TeamProjectRemoved', { teamName: string; project: string }>;

export type TeamProjectCommand =
  | Message<
      'AddTeamProject',
      { team: NamedTeam; project: string; access: ProjectLevel; fields: Named<CustomProjectAccess> }
    >
  | Message<
      'UpdateTeamProject',
      { teamName: string; access?: ProjectLevel | undefined; fields: Named<CustomProjectAccess> }
    >
  | Message<'RemoveTeamProject', { teamName: string }>;

type TeamProject =
  | { readonly status: 'absent' | 'removed' }
  | { readonly status: 'active'; readonly project: string; readonly terms: ProjectTerms };

const refuseOwners = ({ isOwners }: NamedTeam): void => {
  if (isOwners) throw unprocessable('The owners team has access to every project already', TEAM_POINTER);
};

export const teamProject: Decider<TeamProject, TeamProjectCommand, TeamProjectEvent> = {
  version: 2,
  initial: { status: 'absent' },
  decide: {
    AddTeamProject: ({ team, project, access, fields }, state) => {
      if (state.status !== 'absent') throw conflict('Team access exists already');
      checkAll(
        () => refuseOwners(team),
        () => checkFields(access, fields, PROJECT_SCALE),
      );
      const terms = termsAfter(null, access, fields, PROJECT_SCALE);
      return [{ type: 'TeamProjectAdded', data: { team: team.id, teamName: team.name, project, ...terms } }];
    },
    UpdateTeamProject: ({ teamName, access, fields }, state) => {
      const { project, terms: before } = requireActive(state);
      const terms = termsAfter(before, access ?? before.access, fields, PROJECT_SCALE);
      return isSame(terms, before) ? [] : [{ type: 'TeamProjectUpdated', data: { teamName, project, ...terms } }];
    },
    RemoveTeamProject: ({ teamName }, state) => [
      { type: 'TeamProjectRemoved', data: { teamName, project: requireActive(state).project } },
    ],
  },
  evolve: {
    TeamProjectAdded: ({ project, access, custom }) => ({
      status: 'active',
      project,
      terms: { access, custom },
    }),
    TeamProjectUpdated: ({ project, access, custom }) => ({
      status: 'active',
      project,
      terms: { access, custom },
    }),
    TeamProjectRemoved: () => ({ status: 'removed' }),
  },
};
