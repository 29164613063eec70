import { toAttributeName, runAllChecks, conflict, requireActive, type Decider, type Message } from '#platform/kernel';
import { PROJECT_LEVEL_ACCESS, type CustomProjectAccess, type ProjectLevel } from '#api/access/rules';
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

type ProjectTerms = AccessTerms<ProjectLevel, CustomProjectAccess>;

export const PROJECT_ACCESS_SCALE: AccessScale<ProjectLevel, CustomProjectAccess> = {
  permissionsByLevel: PROJECT_LEVEL_ACCESS,
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
  // The API has two groups of fields: for the project and for its workspaces.
  pointer: (field, group) =>
    `/data/attributes/${group === 'project' ? 'project-access' : 'workspace-access'}/${toAttributeName(field)}`,
};

/**
 * Access of a team to a project and to every workspace in it. `teamName` is the name at the time of the event, for the
 * audit trail.
 */
export type TeamProjectEvent =
  | Message<'TeamProjectAdded', { team: string; teamName: string; project: string } & ProjectTerms>
  | Message<'TeamProjectUpdated', { teamName: string; project: string } & ProjectTerms>
  | Message<'TeamProjectRemoved', { teamName: string; project: string }>;

export type TeamProjectCommand =
  | Message<
      'AddTeamProject',
      { team: ReferencedTeam; project: string; access: ProjectLevel; fields: NamedFields<CustomProjectAccess> }
    >
  | Message<
      'UpdateTeamProject',
      { teamName: string; access?: ProjectLevel | undefined; fields: NamedFields<CustomProjectAccess> }
    >
  | Message<'RemoveTeamProject', { teamName: string }>;

type TeamProjectState =
  | { readonly status: 'absent' | 'removed' }
  | { readonly status: 'active'; readonly project: string; readonly terms: ProjectTerms };

export const teamProject: Decider<TeamProjectState, TeamProjectCommand, TeamProjectEvent> = {
  version: 2,
  initial: { status: 'absent' },
  decide: {
    AddTeamProject: ({ team, project, access, fields }, state) => {
      if (state.status !== 'absent') throw conflict('Team access exists already');
      runAllChecks(
        () => refuseOwnersTeam(team, 'project'),
        () => checkFields(access, fields, PROJECT_ACCESS_SCALE),
      );
      const terms = computeAccessTerms(null, access, fields, PROJECT_ACCESS_SCALE);
      return [{ type: 'TeamProjectAdded', data: { team: team.id, teamName: team.name, project, ...terms } }];
    },
    UpdateTeamProject: ({ teamName, access, fields }, state) => {
      const { project, terms: before } = requireActive(state);
      const terms = computeAccessTerms(before, access ?? before.access, fields, PROJECT_ACCESS_SCALE);
      return isSameAccess(terms, before) ? [] : [{ type: 'TeamProjectUpdated', data: { teamName, project, ...terms } }];
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
