import { defineResource, describeController, exampleText, timestamp } from '#api/json-api/description';
import { STATE_VERSIONS } from '../state-versions/state-versions.openapi.js';
import { ResourcesController } from './resources.controller.js';

export const workspaceResourceSchema = defineResource({
  name: 'WorkspaceResource',
  type: 'resources',
  description: 'A resource instance of the current state of a workspace.',
  exampleId: 'wsr-0f1e2d3c4b5a6978',
  attributes: {
    address: exampleText('zone.aws_subnet.public[0]', 'The address without `module.`.'),
    'created-at': timestamp('When the state version was created.'),
    'modified-by-state-version-id': exampleText('sv-8cGx3VnLq5TbRz7M'),
    module: exampleText('zone'),
    name: exampleText('public'),
    'name-index': exampleText('0', 'The key from `count` or `for_each`.').nullable(),
    provider: exampleText('hashicorp/aws'),
    'provider-type': exampleText('aws_subnet'),
    'updated-at': timestamp('When the state version was created.'),
  },
});

export const resourcesOperations = describeController(
  ResourcesController,
  { ...STATE_VERSIONS, resource: workspaceResourceSchema },
  {
    list: { summary: 'List the resources in the current state of a workspace' },
  },
);
