import { describeBody, describeController, parameter } from '#api/json-api/description';
import { workspaceSchema } from '../workspaces/workspaces.openapi.js';
import { body as consumersBody, RemoteStateConsumersController } from './remote-state-consumers.controller.js';

const REMOTE_STATE_CONSUMERS = {
  name: 'Remote state consumers',
  description: 'The workspaces that may read the state of a workspace.',
  resource: workspaceSchema,
};

const body = describeBody(consumersBody, { data: [{ type: 'workspaces', id: 'ws-7hQ2vXbN4kTgYw3D' }] });

export const remoteStateConsumersOperations = describeController(
  RemoteStateConsumersController,
  REMOTE_STATE_CONSUMERS,
  {
    list: {
      operationId: 'listRemoteStateConsumers',
      summary: 'List the workspaces that may read the state of a workspace',
      query: {
        show_only_configured: parameter.text(
          '`true` leaves out workspaces that may read because the state is shared with the organization or the project.',
        ),
      },
    },
    listSources: {
      operationId: 'listRemoteStateSources',
      summary: 'List the workspaces whose state the runs of a workspace may read',
      query: {
        show_only_configured: parameter.text(
          '`true` leaves out workspaces that share their state with the organization or the project.',
        ),
      },
    },
    add: {
      body,
      operationId: 'addRemoteStateConsumers',
      summary: 'Let workspaces read the state of a workspace',
      events: ['RemoteStateConsumersAdded'],
    },
    replace: {
      body,
      operationId: 'replaceRemoteStateConsumers',
      summary: 'Replace the workspaces that may read the state of a workspace',
      events: ['RemoteStateConsumersAdded', 'RemoteStateConsumersRemoved'],
    },
    remove: {
      body,
      operationId: 'removeRemoteStateConsumers',
      summary: 'Stop workspaces from reading the state of a workspace',
      events: ['RemoteStateConsumersRemoved'],
    },
  },
);
