import { z } from 'zod';
import { defineResource, describeController, exampleText, parameter, related } from '#api/json-api/description';
import { STEP_SOURCES } from './access-explanation.js';
import { AccessExplanationsController } from './access-explanations.controller.js';
import { EXPLAINED_PERMISSIONS } from './explained-permissions.js';

const step = z.strictObject({
  source: z.enum(STEP_SOURCES).meta({ description: 'Where the step looks for the permission.' }),
  team: z
    .strictObject({ id: exampleText('team-3kPz8WvQy5NxTbRc'), name: exampleText('platform') })
    .nullable()
    .meta({ description: 'The team of the access. Null if the step concerns no team.' }),
  access: exampleText('write', 'The level or the right that the step found. Null for none.').nullable(),
  gives: z.boolean().meta({ description: 'Whether this step alone gives the permission.' }),
  detail: exampleText(
    'The team platform has write access to the project Shops, which includes this permission.',
    'The step in a sentence.',
  ),
});

export const accessExplanationSchema = defineResource({
  name: 'AccessExplanation',
  type: 'access-explanations',
  description: 'Why a user or a team has a permission, or does not have it.',
  exampleId: 'user-8Xc3kYb2TqLw9RfZ:apply-run:ws-7hQ2vXbN4kTgYw3D',
  attributes: {
    permission: z.enum(EXPLAINED_PERMISSIONS).meta({ examples: ['apply-run'] }),
    scope: z.enum(['resource', 'organization', 'every-workspace', 'every-project']).meta({
      description:
        'What the explanation is about: the workspace or project of the request, the organization, or every workspace or project of it, also new ones.',
      examples: ['resource'],
    }),
    'is-permitted': z.boolean().meta({
      description:
        'Whether the server permits a request with this permission. For every workspace or project: whether the subject has the permission on all of them, also on new ones. `permitted-on` then has the number of those on which the subject has it.',
    }),
    'permitted-on': z
      .strictObject({
        total: z.int().meta({ description: 'The workspaces or projects of the organization.' }),
        permitted: z.int().meta({ description: 'Those on which the subject has the permission.' }),
        examples: z
          .array(z.strictObject({ id: exampleText('ws-7hQ2vXbN4kTgYw3D'), name: exampleText('network') }))
          .meta({ description: 'The first ten of them, by name.' }),
      })
      .nullable()
      .meta({ description: 'Null if the scope is neither `every-workspace` nor `every-project`.' }),
    steps: z.array(step),
    'sufficient-roles': z
      .array(exampleText('manage-workspaces'))
      .meta({ description: 'Roles in the organization, each of which gives the permission.' }),
    'sufficient-levels': z
      .array(exampleText('project write'))
      .meta({ description: 'Levels of access to the project or the workspace, each of which gives the permission.' }),
  },
  relationships: {
    subject: related.always('users', 'teams'),
    resource: related
      .always('workspaces', 'projects')
      .optional()
      .meta({ description: 'Only explanations about a workspace or a project have it.' }),
  },
});

const ACCESS_EXPLANATIONS = {
  name: 'Access explanations',
  description: 'Why a user or a team has a permission, step by step.',
  resource: accessExplanationSchema,
};

export const accessExplanationsOperations = describeController(AccessExplanationsController, ACCESS_EXPLANATIONS, {
  explain: {
    operationId: 'explainAccess',
    summary: 'Explain why a user or a team has a permission',
    description:
      'Send `filter[user]` or `filter[team]`. Without a workspace and a project, the explanation is about the whole organization, or about every workspace or project of it: `permitted-on` says on how many the subject has the permission. Owners can have the access of everybody explained, and everybody their own.',
    query: {
      'filter[user]': parameter.text('The id of a member.'),
      'filter[team]': parameter.text('The id of a team.'),
      'filter[permission]': z.enum(EXPLAINED_PERMISSIONS).meta({ description: 'The permission.' }),
      'filter[workspace]': parameter.text('The id of a workspace.'),
      'filter[project]': parameter.text('The id of a project.'),
    },
  },
});
