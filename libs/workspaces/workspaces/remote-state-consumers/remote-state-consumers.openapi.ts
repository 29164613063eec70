import {
  describeBody,
  describeController,
  describeEmpty,
  describePage,
  pageParameters,
  textParameter,
} from '#api/json-api/description';
import { body as consumersBody, RemoteStateConsumersController } from './remote-state-consumers.controller.js';

const REMOTE_STATE_CONSUMERS = {
  name: 'Remote state consumers',
  description: 'The workspaces that may read the state of a workspace.',
};

const change = {
  body: describeBody(consumersBody, { data: [{ type: 'workspaces', id: 'ws-7hQ2vXbN4kTgYw3D' }] }),
  answer: describeEmpty(),
};

export const remoteStateConsumersOperations = describeController(
  RemoteStateConsumersController,
  REMOTE_STATE_CONSUMERS,
  {
    list: {
      operationId: 'listRemoteStateConsumers',
      summary: 'List the workspaces that may read the state of a workspace',
      query: {
        ...pageParameters(),
        show_only_configured: textParameter(
          '`true` leaves out workspaces that may read because the state is shared with the organization or the project.',
        ),
      },
      answer: describePage('Workspace'),
    },
    listSources: {
      operationId: 'listRemoteStateSources',
      summary: 'List the workspaces whose state the runs of a workspace may read',
      query: {
        ...pageParameters(),
        show_only_configured: textParameter(
          '`true` leaves out workspaces that share their state with the organization or the project.',
        ),
      },
      answer: describePage('Workspace'),
    },
    add: {
      ...change,
      operationId: 'addRemoteStateConsumers',
      summary: 'Let workspaces read the state of a workspace',
      events: ['RemoteStateConsumersAdded'],
    },
    replace: {
      ...change,
      operationId: 'replaceRemoteStateConsumers',
      summary: 'Replace the workspaces that may read the state of a workspace',
      events: ['RemoteStateConsumersAdded', 'RemoteStateConsumersRemoved'],
    },
    remove: {
      ...change,
      operationId: 'removeRemoteStateConsumers',
      summary: 'Stop workspaces from reading the state of a workspace',
      events: ['RemoteStateConsumersRemoved'],
    },
  },
);
