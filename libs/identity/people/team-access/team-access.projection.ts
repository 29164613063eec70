import {
  sql,
  type Projection,
  type OrganizationDeleted,
  type ProjectDeleted,
  type WorkspaceDeleted,
} from '#platform/kernel';
import type { TeamEvent } from '../teams/team.js';
import type { TeamProjectEvent } from './team-project.js';
import type { TeamWorkspaceEvent } from './team-workspace.js';

/** Events that end access, besides the deletion of the workspace or project. */
type AccessEndEvent = Extract<TeamEvent, { type: 'TeamDeleted' }> | OrganizationDeleted;

const toJsonOrNull = (value: unknown): string | null => (value === null ? null : sql.json(value));

export const teamWorkspaces: Projection<TeamWorkspaceEvent | AccessEndEvent | WorkspaceDeleted> = {
  name: 'team_workspaces',
  version: 1,
  tables: ['team_workspaces'],
  on: {
    TeamWorkspaceAdded: ({ team, workspace, access, custom }, { stream, organization, time }) => sql`
      insert into team_workspaces (id, organization, team, workspace, access, custom, created_at)
      values (${stream}, ${organization}, ${team}, ${workspace}, ${access}, ${toJsonOrNull(custom)}, ${time})`,
    TeamWorkspaceUpdated: ({ access, custom }, { stream }) => sql`
      update team_workspaces set access = ${access}, custom = ${toJsonOrNull(custom)} where id = ${stream}`,
    TeamWorkspaceRemoved: (_, { stream }) => sql`delete from team_workspaces where id = ${stream}`,
    TeamDeleted: (_, { stream }) => sql`delete from team_workspaces where team = ${stream}`,
    WorkspaceDeleted: (_, { stream }) => sql`delete from team_workspaces where workspace = ${stream}`,
    OrganizationDeleted: (_, { stream }) => sql`delete from team_workspaces where organization = ${stream}`,
  },
};

export const teamProjects: Projection<TeamProjectEvent | AccessEndEvent | ProjectDeleted> = {
  name: 'team_projects',
  version: 1,
  tables: ['team_projects'],
  on: {
    TeamProjectAdded: ({ team, project, access, custom }, { stream, organization, time }) => sql`
      insert into team_projects (id, organization, team, project, access, custom, created_at)
      values (${stream}, ${organization}, ${team}, ${project}, ${access}, ${toJsonOrNull(custom)}, ${time})`,
    TeamProjectUpdated: ({ access, custom }, { stream }) => sql`
      update team_projects set access = ${access}, custom = ${toJsonOrNull(custom)} where id = ${stream}`,
    TeamProjectRemoved: (_, { stream }) => sql`delete from team_projects where id = ${stream}`,
    TeamDeleted: (_, { stream }) => sql`delete from team_projects where team = ${stream}`,
    ProjectDeleted: (_, { stream }) => sql`delete from team_projects where project = ${stream}`,
    OrganizationDeleted: (_, { stream }) => sql`delete from team_projects where organization = ${stream}`,
  },
};
