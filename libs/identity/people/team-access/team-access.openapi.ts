import {
  describeBody,
  describeController,
  describeDocument,
  describeEmpty,
  describePage,
  pageParameters,
  requiredParameter,
  type OperationDescription,
} from '#api/json-api/description';
import * as projectBodies from './team-projects.body.js';
import { TeamProjectsController } from './team-projects.controller.js';
import * as workspaceBodies from './team-workspaces.body.js';
import { TeamWorkspacesController } from './team-workspaces.controller.js';

const TEAM_ACCESS = { name: 'Team access', description: 'Access of teams to workspaces and projects.' };

const FIELDS = 'Only with the level `custom` can the body have other attributes than `access`.';

const team = { data: { type: 'teams', id: 'team-3kPz8WvQy5NxTbRc' } };

const create = {
  description: FIELDS,
  refusals: {
    unprocessable: 'An attribute or a relationship is not valid, or the team has access already.',
  },
} satisfies Partial<OperationDescription>;

const update = {
  description: `${FIELDS} A change to \`custom\` starts from what the old level permits.`,
} satisfies Partial<OperationDescription>;

const destroy = { answer: describeEmpty() } satisfies Partial<OperationDescription>;

export const teamWorkspacesOperations = describeController(TeamWorkspacesController, TEAM_ACCESS, {
  list: {
    operationId: 'listTeamWorkspaces',
    summary: 'List the teams with access to a workspace',
    query: { ...pageParameters(), 'filter[workspace][id]': requiredParameter('The id of the workspace.') },
    answer: describePage('TeamWorkspace'),
  },
  create: {
    ...create,
    operationId: 'addTeamWorkspace',
    summary: 'Give a team access to a workspace',
    body: describeBody(workspaceBodies.createBody, {
      data: {
        type: 'team-workspaces',
        attributes: { access: 'write' },
        relationships: { team, workspace: { data: { id: 'ws-7hQ2vXbN4kTgYw3D' } } },
      },
    }),
    answer: describeDocument('TeamWorkspace'),
  },
  show: {
    operationId: 'getTeamWorkspace',
    summary: 'Show the access of a team to a workspace',
    answer: describeDocument('TeamWorkspace'),
  },
  update: {
    ...update,
    operationId: 'updateTeamWorkspace',
    summary: 'Change the access of a team to a workspace',
    body: describeBody(workspaceBodies.updateBody, {
      data: { type: 'team-workspaces', attributes: { access: 'custom', runs: 'apply' } },
    }),
    answer: describeDocument('TeamWorkspace'),
  },
  destroy: {
    ...destroy,
    operationId: 'removeTeamWorkspace',
    summary: 'Remove the access of a team to a workspace',
  },
});

export const teamProjectsOperations = describeController(TeamProjectsController, TEAM_ACCESS, {
  list: {
    operationId: 'listTeamProjects',
    summary: 'List the teams with access to a project',
    query: { ...pageParameters(), 'filter[project][id]': requiredParameter('The id of the project.') },
    answer: describePage('TeamProject'),
  },
  create: {
    ...create,
    operationId: 'addTeamProject',
    summary: 'Give a team access to a project',
    body: describeBody(projectBodies.createBody, {
      data: {
        type: 'team-projects',
        attributes: { access: 'maintain' },
        relationships: { team, project: { data: { id: 'prj-6wR2mJ8tQfKx9LpZ' } } },
      },
    }),
    answer: describeDocument('TeamProject'),
  },
  show: {
    operationId: 'getTeamProject',
    summary: 'Show the access of a team to a project',
    answer: describeDocument('TeamProject'),
  },
  update: {
    ...update,
    operationId: 'updateTeamProject',
    summary: 'Change the access of a team to a project',
    body: describeBody(projectBodies.updateBody, {
      data: { type: 'team-projects', attributes: { access: 'custom', 'workspace-access': { runs: 'apply' } } },
    }),
    answer: describeDocument('TeamProject'),
  },
  destroy: { ...destroy, operationId: 'removeTeamProject', summary: 'Remove the access of a team to a project' },
});
