import {
  defineResource,
  describeController,
  describeResourceBody,
  exampleText,
  parameter,
  permissionFlags,
  related,
  timestamp,
} from '#api/json-api/description';
import { createBody, RunTriggersController, TRIGGER_INCLUDES } from './run-triggers.controller.js';
import { TRIGGER_TYPES } from './run-triggers.view.js';

const nameOf = (workspace: string, description: string) =>
  exampleText(workspace)
    .nullable()
    .meta({ description: `${description} Null if you may not read its runs.`, examples: [workspace] });

export const runTriggerSchema = defineResource({
  name: 'RunTrigger',
  type: 'run-triggers',
  description: 'Starts a run in a workspace after each apply of another workspace, the source.',
  exampleId: 'rt-4tVn8XcQz2LkWb6R',
  attributes: {
    'created-at': timestamp(),
    permissions: permissionFlags('can-destroy'),
    'sourceable-name': nameOf('network', 'The name of the source.'),
    'workspace-name': nameOf('cluster', 'The name of the workspace in which runs start.'),
  },
  relationships: { sourceable: related.always('workspaces'), workspace: related.always('workspaces') },
  hasSelfLink: true,
});

const RUN_TRIGGERS = {
  name: 'Run triggers',
  description: 'Which workspaces get a run after the applies of other workspaces.',
  resource: runTriggerSchema,
  include: { values: TRIGGER_INCLUDES, resources: ['Workspace'] },
};

export const runTriggersOperations = describeController(RunTriggersController, RUN_TRIGGERS, {
  create: {
    description:
      'Needs admin access to the workspace, and read access to the runs of the source. A workspace has at most 20 sources, and is the source of at most 100 workspaces.',
    body: describeResourceBody(createBody, {}, { sourceable: { data: { id: 'ws-7hQ2vXbN4kTgYw3D' } } }),
    refusals: {
      unprocessable:
        'The source is missing, is the workspace itself or one of its sources, the triggers would form a cycle, or there are too many.',
    },
  },
  list: {
    description: 'Contains only triggers whose other workspace has runs that you may read.',
    query: {
      'filter[run-trigger][type]': parameter.choice(
        TRIGGER_TYPES,
        'Required. `inbound`: triggers that start runs in the workspace. `outbound`: triggers whose source it is.',
      ),
    },
  },
  listOfOrganization: {
    operationId: 'listOrganizationRunTriggers',
    summary: 'List the run triggers of an organization',
    description:
      'An extension of Cadastre. Contains only triggers between workspaces whose runs you may read, the oldest first.',
  },
  show: {},
  destroy: { description: 'Needs admin access to the workspace in which runs start.' },
});
