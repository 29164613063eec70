import {
  asOfParameter,
  count,
  defineResource,
  describeBody,
  describeController,
  exampleText,
  parameter,
  related,
  timestamp,
} from '#api/json-api/description';
import { flatTagsInput } from '#organizations/tag-bindings';
import { tagsBody, TagsController, workspacesBody } from './tags.controller.js';

export const tagSchema = defineResource({
  name: 'Tag',
  type: 'tags',
  description: 'A flat tag: a name without a value.',
  noun: 'flat tag',
  exampleId: 'tag-9f8e7d6c5b4a3f2e',
  attributes: {
    name: exampleText('network'),
    'created-at': timestamp('When the first workspace got the tag.'),
    'instance-count': count('The number of workspaces with the tag that you may read.'),
  },
  relationships: { organization: related.always('organizations') },
});

const TAGS = { name: 'Tags', description: 'Flat tags of workspaces: names without a value.' };

const NAMED_TAGS = { data: [{ type: 'tags', attributes: { name: 'network' } }] };
const IDENTIFIED_TAGS = { data: [{ type: 'tags', id: 'tag-9f8e7d6c5b4a3f2e' }] };

export const tagsOperations = describeController(
  TagsController,
  { ...TAGS, resource: tagSchema },
  {
    listAll: {
      operationId: 'listOrganizationTags',
      summary: 'List the flat tags of an organization',
      query: {
        q: parameter.text('Only tags with this text in their name, ignoring case.'),
        'filter[exclude][taggable][id]': parameter.text('The id of a workspace whose tags are left out.'),
      },
    },
    list: {
      operationId: 'listWorkspaceTags',
      query: {
        ...asOfParameter(),
        name: parameter.text('Only tags with this text in their name, ignoring case.'),
      },
    },
    add: {
      operationId: 'addWorkspaceTags',
      summary: 'Add flat tags to a workspace',
      description: 'Tags are named, or identified if they exist. An id takes precedence over a name.',
      body: describeBody(flatTagsInput, NAMED_TAGS),
      events: ['WorkspaceTagAdded'],
    },
    remove: {
      operationId: 'removeWorkspaceTags',
      summary: 'Remove flat tags from a workspace',
      description: 'A name or an id that the workspace does not have is ignored.',
      body: describeBody(flatTagsInput, NAMED_TAGS),
      events: ['WorkspaceTagRemoved'],
    },
    delete: {
      operationId: 'deleteOrganizationTags',
      summary: 'Delete flat tags from all workspaces of an organization',
      description: 'After an interruption, the same request deletes the rest.',
      body: describeBody(tagsBody, IDENTIFIED_TAGS),
      events: ['WorkspaceTagRemoved'],
    },
    addWorkspaces: {
      operationId: 'addTagToWorkspaces',
      summary: 'Add a flat tag to several workspaces',
      description: 'The server adds the tag to all of the workspaces or to none.',
      body: describeBody(workspacesBody, { data: [{ type: 'workspaces', id: 'ws-7hQ2vXbN4kTgYw3D' }] }),
      events: ['WorkspaceTagAdded'],
    },
  },
);
