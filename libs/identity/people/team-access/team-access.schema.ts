import { z } from 'zod';
import { PROJECT_FIELDS, PROJECT_LEVELS, WORKSPACE_FIELDS, WORKSPACE_LEVELS } from '#api/access';
import { defineResource, relatedAlways, serverPath } from '#api/json-api/description';

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
  relationships: { team: relatedAlways('teams'), workspace: relatedAlways('workspaces') },
  links: { self: serverPath('/api/v2/team-workspaces/tws-9xTc4QvKz7LbNw2R') },
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
  relationships: { team: relatedAlways('teams'), project: relatedAlways('projects') },
  links: { self: serverPath('/api/v2/team-projects/tprj-5mRw8YbXk3VzTc6Q') },
});
