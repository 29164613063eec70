import { z } from 'zod';
import {
  always,
  count,
  defineResource,
  describeController,
  describeResourceBody,
  exampleText,
  parameter,
  permissionFlags,
  related,
  sortParameter,
  timestamp,
} from '#api/json-api/description';
import { EXECUTION_MODES } from '#platform/kernel';
import { PROJECT_SETTINGS } from './project-settings.js';
import { createBody, updateBody, PROJECT_INCLUDES, ProjectsController, PROJECT_SORTS } from './projects.controller.js';

const overwrites = z
  .strictObject({
    'default-execution-mode': z.boolean(),
    'default-agent-pool': z.boolean(),
    'execution-mode': z.boolean(),
    'agent-pool': z.boolean(),
  })
  .meta({ description: 'Which settings are its own. The others follow the organization.' });

export const projectSchema = defineResource({
  name: 'Project',
  type: 'projects',
  description: 'A group of workspaces with common settings, access and tags.',
  exampleId: 'prj-6wR2mJ8tQfKx9LpZ',
  attributes: {
    name: exampleText('Default Project'),
    description: z.string().nullable(),
    'created-at': timestamp(),
    'is-unified': always(false),
    'workspace-count': count('The number of its workspaces that you may read.'),
    'team-count': count('The number of teams with access to it that you may see.'),
    'stack-count': always(0),
    'auto-destroy-activity-duration': exampleText(
      '14d',
      'Days or hours without a run until the resources of a workspace are destroyed.',
    )
      .nullable()
      .meta({ examples: [null] }),
    'default-execution-mode': z.enum(EXECUTION_MODES).meta({ description: 'The effective mode.' }),
    'stacks-default-execution-mode': PROJECT_SETTINGS.shape.stacksDefaultExecutionMode,
    'setting-overwrites': overwrites,
    permissions: permissionFlags(
      'can-read',
      'can-update',
      'can-update-defaults',
      'can-destroy',
      'can-create-workspace',
      'can-move-workspace',
      'can-move-stack',
      'can-deploy-no-code-modules',
      'can-read-teams',
      'can-manage-tags',
      'can-manage-teams',
      'can-manage-in-hcp',
    ),
  },
  relationships: {
    organization: related.always('organizations'),
    'default-agent-pool': related.one('agent-pools'),
    'tag-bindings': related.link(),
    'effective-tag-bindings': related.ifIncluded('effective-tag-bindings'),
  },
  hasSelfLink: true,
});

const PROJECTS = {
  name: 'Projects',
  description: 'Groups of workspaces with common settings, access and tags.',
  resource: projectSchema,
  include: { values: PROJECT_INCLUDES, resources: ['EffectiveTagBinding'] },
};

const INVALID = 'An attribute or a tag is not valid, or a project of the organization has the name.';

export const projectsOperations = describeController(ProjectsController, PROJECTS, {
  list: {
    description: 'The list has the projects that you may read.',
    query: {
      ...sortParameter(PROJECT_SORTS),
      q: parameter.text('Only projects with this text in their name, ignoring case.'),
      'filter[names]': parameter.list('Only projects with one of these names.'),
      'filter[permissions][create-workspace]': parameter.text(
        'Only projects in which you may create workspaces. The value `false` has no effect, and every other value filters.',
      ),
      'filter[permissions][update]': parameter.text(
        'Only projects that you may change. The value `false` has no effect, and every other value filters.',
      ),
      'filter[tagged]': parameter.list('Only projects with tags of all of these keys, each with any value.'),
      'filter[tagged][0][key]': parameter.text(
        'Only projects with a tag that has this key. For several tags, use other numbers than 0.',
      ),
      'filter[tagged][0][value]': parameter.text(
        'The value of the tag with the same number. Without a key, a tag of any key.',
        { mostCharacters: 256 },
      ),
    },
  },
  create: {
    body: describeResourceBody(
      createBody,
      { name: 'network', description: 'Networks of all regions' },
      { 'tag-bindings': { data: [{ type: 'tag-bindings', attributes: { key: 'env', value: 'prod' } }] } },
    ),
    refusals: { unprocessable: INVALID },
    events: ['ProjectCreated', 'ProjectTagBound'],
  },
  show: {},
  update: {
    description: 'Tag bindings in the body replace all tag bindings of the project.',
    body: describeResourceBody(updateBody, { name: 'network', 'default-execution-mode': 'local' }),
    refusals: { unprocessable: INVALID },
    events: ['ProjectUpdated', 'ProjectTagBound', 'ProjectTagUnbound'],
  },
  destroy: { refusals: { unprocessable: 'The project has workspaces, or it is the default project.' } },
});
