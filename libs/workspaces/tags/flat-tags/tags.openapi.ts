import {
  asOfParameter,
  describeBody,
  describeController,
  describeEmpty,
  describePage,
  pageParameters,
  textParameter,
} from '#api/json-api/description';
import { flatTagsInput } from '#organizations/tag-bindings';
import { tagsBody, TagsController, workspacesBody } from './tags.controller.js';

const TAGS = { name: 'Tags', description: 'Flat tags of workspaces: names without a value.' };

const NAMED_TAGS = { data: [{ type: 'tags', attributes: { name: 'network' } }] };
const IDENTIFIED_TAGS = { data: [{ type: 'tags', id: 'tag-9f8e7d6c5b4a3f2e' }] };

export const tagsOperations = describeController(TagsController, TAGS, {
  listAll: {
    operationId: 'listOrganizationTags',
    summary: 'List the flat tags of an organization',
    query: {
      ...pageParameters(),
      q: textParameter('Only tags with this text in their name, ignoring case.'),
      'filter[exclude][taggable][id]': textParameter('The id of a workspace whose tags are left out.'),
    },
    answer: describePage('Tag'),
  },
  list: {
    operationId: 'listWorkspaceTags',
    summary: 'List the flat tags of a workspace',
    query: {
      ...pageParameters(),
      ...asOfParameter(),
      name: textParameter('Only tags with this text in their name, ignoring case.'),
    },
    answer: describePage('Tag'),
  },
  add: {
    operationId: 'addWorkspaceTags',
    summary: 'Add flat tags to a workspace',
    description: 'Tags are named, or identified if they exist. An id takes precedence over a name.',
    body: describeBody(flatTagsInput, NAMED_TAGS),
    answer: describeEmpty(),
    events: ['WorkspaceTagAdded'],
  },
  remove: {
    operationId: 'removeWorkspaceTags',
    summary: 'Remove flat tags from a workspace',
    description: 'A name or an id that the workspace does not have is ignored.',
    body: describeBody(flatTagsInput, NAMED_TAGS),
    answer: describeEmpty(),
    events: ['WorkspaceTagRemoved'],
  },
  delete: {
    operationId: 'deleteOrganizationTags',
    summary: 'Delete flat tags from all workspaces of an organization',
    description: 'After an interruption, the same request deletes the rest.',
    body: describeBody(tagsBody, IDENTIFIED_TAGS),
    answer: describeEmpty(),
    events: ['WorkspaceTagRemoved'],
  },
  addWorkspaces: {
    operationId: 'addTagToWorkspaces',
    summary: 'Add a flat tag to several workspaces',
    description: 'The server adds the tag to all of the workspaces or to none.',
    body: describeBody(workspacesBody, { data: [{ type: 'workspaces', id: 'ws-7hQ2vXbN4kTgYw3D' }] }),
    answer: describeEmpty(),
    events: ['WorkspaceTagAdded'],
  },
});
