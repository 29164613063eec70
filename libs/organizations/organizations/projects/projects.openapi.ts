import {
  describeBody,
  describeController,
  describeDocument,
  describeEmpty,
  describePage,
  includeParameter,
  listParameter,
  pageParameters,
  sortParameter,
  textParameter,
} from '#api/json-api/description';
import { createBody, updateBody } from './projects.body.js';
import { PROJECT_INCLUDES, ProjectsController } from './projects.controller.js';
import { PROJECT_SORTS } from './projects.filter.js';

const PROJECTS = { name: 'Projects', description: 'Groups of workspaces with common settings, access and tags.' };

/** Names of the resources that `include` can add. */
const included = ['EffectiveTagBinding'];

const INVALID = 'An attribute or a tag is not valid, or a project of the organization has the name.';

export const projectsOperations = describeController(ProjectsController, PROJECTS, {
  list: {
    operationId: 'listProjects',
    summary: 'List the projects of an organization',
    description: 'The list has the projects that you may read.',
    query: {
      ...pageParameters(),
      ...includeParameter(PROJECT_INCLUDES),
      ...sortParameter(PROJECT_SORTS),
      q: textParameter('Only projects with this text in their name, ignoring case.'),
      'filter[names]': listParameter('Only projects with one of these names.'),
      'filter[permissions][create-workspace]': textParameter(
        'Only projects in which you may create workspaces. The value `false` has no effect, and every other value filters.',
      ),
      'filter[permissions][update]': textParameter(
        'Only projects that you may change. The value `false` has no effect, and every other value filters.',
      ),
      'filter[tagged]': listParameter('Only projects with tags of all of these keys, each with any value.'),
      'filter[tagged][0][key]': textParameter(
        'Only projects with a tag that has this key. For several tags, use other numbers than 0.',
      ),
      'filter[tagged][0][value]': textParameter(
        'The value of the tag with the same number. Without a key, a tag of any key.',
        { mostCharacters: 256 },
      ),
    },
    answer: describePage('Project', { included }),
  },
  create: {
    operationId: 'createProject',
    summary: 'Create a project',
    body: describeBody(createBody, {
      data: {
        type: 'projects',
        attributes: { name: 'network', description: 'Networks of all regions' },
        relationships: {
          'tag-bindings': { data: [{ type: 'tag-bindings', attributes: { key: 'env', value: 'prod' } }] },
        },
      },
    }),
    answer: describeDocument('Project'),
    refusals: { unprocessable: INVALID },
    events: ['ProjectCreated', 'ProjectTagBound'],
  },
  show: {
    operationId: 'getProject',
    summary: 'Show a project',
    query: includeParameter(PROJECT_INCLUDES),
    answer: describeDocument('Project', { included }),
  },
  update: {
    operationId: 'updateProject',
    summary: 'Change a project',
    description: 'Tag bindings in the body replace all tag bindings of the project.',
    body: describeBody(updateBody, {
      data: { type: 'projects', attributes: { name: 'network', 'default-execution-mode': 'local' } },
    }),
    answer: describeDocument('Project'),
    refusals: { unprocessable: INVALID },
    events: ['ProjectUpdated', 'ProjectTagBound', 'ProjectTagUnbound'],
  },
  destroy: {
    operationId: 'deleteProject',
    summary: 'Delete a project',
    answer: describeEmpty(),
    refusals: { unprocessable: 'The project has workspaces, or it is the default project.' },
  },
});
