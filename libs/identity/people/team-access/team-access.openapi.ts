import { z } from 'zod';
import { PROJECT_FIELDS, PROJECT_LEVELS, WORKSPACE_FIELDS, WORKSPACE_LEVELS } from '#api/access';
import {
  defineResource,
  describeController,
  describeResourceBody,
  type OperationDescription,
  parameter,
  related,
} from '#api/json-api/description';
import * as projectBodies from './team-projects.controller.js';
import { TeamProjectsController } from './team-projects.controller.js';
import * as workspaceBodies from './team-workspaces.controller.js';
import { TeamWorkspacesController } from './team-workspaces.controller.js';

/** Permissions that access to a workspace has, and access to a project for the workspaces in it. */
const shared = {
  runs: z.enum(WORKSPACE_FIELDS.runs),
  variables: z.enum(WORKSPACE_FIELDS.variables),
  'state-versions': z.enum(WORKSPACE_FIELDS.stateVersions),
  'sentinel-mocks': z.enum(WORKSPACE_FIELDS.sentinelMocks),
  'run-tasks': z.boolean(),
  'policy-overrides': z.boolean(),
};

const describeLevel = (levels: readonly string[]) =>
  z.enum(levels).meta({
    description: 'The level. The other attributes show what it permits; for `custom` they define it.',
  });

export const teamWorkspaceSchema = defineResource({
  name: 'TeamWorkspace',
  type: 'team-workspaces',
  description: 'The access of a team to a workspace.',
  exampleId: 'tws-9xTc4QvKz7LbNw2R',
  attributes: { access: describeLevel(WORKSPACE_LEVELS), ...shared, 'workspace-locking': z.boolean() },
  relationships: { team: related.always('teams'), workspace: related.always('workspaces') },
  hasSelfLink: true,
});

export const teamProjectSchema = defineResource({
  name: 'TeamProject',
  type: 'team-projects',
  description: 'The access of a team to a project and to every workspace in it.',
  exampleId: 'tprj-5mRw8YbXk3VzTc6Q',
  attributes: {
    access: describeLevel(PROJECT_LEVELS),
    'project-access': z.strictObject({
      settings: z.enum(PROJECT_FIELDS.settings),
      teams: z.enum(PROJECT_FIELDS.teams),
      'variable-sets': z.enum(PROJECT_FIELDS.variableSets),
    }),
    'workspace-access': z.strictObject({
      ...shared,
      create: z.boolean(),
      locking: z.boolean(),
      delete: z.boolean(),
      move: z.boolean(),
    }),
  },
  relationships: { team: related.always('teams'), project: related.always('projects') },
  hasSelfLink: true,
});

const TEAM_ACCESS = { name: 'Team access', description: 'Access of teams to workspaces and projects.' };

const FIELDS = 'Only with the level `custom` can the body have other attributes than `access`.';

const team = { data: { type: 'teams', id: 'team-3kPz8WvQy5NxTbRc' } };

const create = {
  description: FIELDS,
  refusals: { unprocessable: 'An attribute or a relationship is not valid, or the team has access already.' },
} satisfies OperationDescription;

const update = {
  description: `${FIELDS} A change to \`custom\` starts from what the old level permits.`,
} satisfies OperationDescription;

export const teamWorkspacesOperations = describeController(
  TeamWorkspacesController,
  { ...TEAM_ACCESS, resource: teamWorkspaceSchema },
  {
    list: {
      summary: 'List the teams with access to a workspace',
      query: { 'filter[workspace][id]': parameter.required('The id of the workspace.') },
    },
    create: {
      ...create,
      operationId: 'addTeamWorkspace',
      summary: 'Give a team access to a workspace',
      body: describeResourceBody(
        workspaceBodies.createBody,
        { access: 'write' },
        { team, workspace: { data: { id: 'ws-7hQ2vXbN4kTgYw3D' } } },
      ),
    },
    show: { summary: 'Show the access of a team to a workspace' },
    update: {
      ...update,
      summary: 'Change the access of a team to a workspace',
      body: describeResourceBody(workspaceBodies.updateBody, { access: 'custom', runs: 'apply' }),
    },
    destroy: {
      operationId: 'removeTeamWorkspace',
      summary: 'Remove the access of a team to a workspace',
    },
  },
);

export const teamProjectsOperations = describeController(
  TeamProjectsController,
  { ...TEAM_ACCESS, resource: teamProjectSchema },
  {
    list: {
      summary: 'List the teams with access to a project',
      query: { 'filter[project][id]': parameter.required('The id of the project.') },
    },
    create: {
      ...create,
      operationId: 'addTeamProject',
      summary: 'Give a team access to a project',
      body: describeResourceBody(
        projectBodies.createBody,
        { access: 'maintain' },
        { team, project: { data: { id: 'prj-6wR2mJ8tQfKx9LpZ' } } },
      ),
    },
    show: { summary: 'Show the access of a team to a project' },
    update: {
      ...update,
      summary: 'Change the access of a team to a project',
      body: describeResourceBody(projectBodies.updateBody, { access: 'custom', 'workspace-access': { runs: 'apply' } }),
    },
    destroy: { operationId: 'removeTeamProject', summary: 'Remove the access of a team to a project' },
  },
);
