import { describeController, describePage, pageParameters } from '#api/json-api/description';
import { STATE_VERSIONS } from '../state-versions/state-versions.openapi.js';
import { ResourcesController } from './resources.controller.js';

export const resourcesOperations = describeController(ResourcesController, STATE_VERSIONS, {
  list: {
    operationId: 'listWorkspaceResources',
    summary: 'List the resources in the current state of a workspace',
    query: pageParameters(),
    answer: describePage('WorkspaceResource'),
  },
});
