import {
  describeBody,
  describeController,
  describeDocument,
  describeEmpty,
  describePage,
  optionalPageParameters,
  requiredParameter,
  textParameter,
  type OperationDescription,
} from '#api/json-api/description';
import { createAnywhereBody, createBody, updateBody } from './variables.body.js';
import { VarsController } from './vars.controller.js';

const VARIABLES = {
  name: 'Variables',
  description: 'Terraform variables and environment variables of workspaces and variable sets.',
};

const list = {
  query: optionalPageParameters(),
  answer: describePage('Variable'),
} satisfies Partial<OperationDescription>;

const NEW_VARIABLE = {
  type: 'vars',
  attributes: { key: 'region', value: 'eu-central-1', category: 'terraform' },
} as const;

const NOT_ACCEPTED =
  'Another variable has this key and category, or the owner has too many variables or too long values.';

const create = {
  body: describeBody(createBody, { data: NEW_VARIABLE }),
  answer: describeDocument('Variable'),
  refusals: { unprocessable: NOT_ACCEPTED },
} satisfies Partial<OperationDescription>;

const update = {
  description: 'The key of a sensitive variable cannot change, and a sensitive variable stays sensitive.',
  body: describeBody(updateBody, { data: { type: 'vars', attributes: { value: 'eu-west-1' } } }),
  answer: describeDocument('Variable'),
  refusals: { unprocessable: 'Another variable has this key and category, or the variable is sensitive.' },
} satisfies Partial<OperationDescription>;

const read = { answer: describeDocument('Variable') } satisfies Partial<OperationDescription>;

const destroy = { answer: describeEmpty() } satisfies Partial<OperationDescription>;

export const varsOperations = describeController(VarsController, VARIABLES, {
  listOfWorkspace: {
    ...list,
    operationId: 'listWorkspaceVariables',
    summary: 'List the own variables of a workspace',
  },
  createInWorkspace: {
    ...create,
    operationId: 'createWorkspaceVariable',
    summary: 'Create a variable of a workspace',
  },
  showOfWorkspace: { ...read, operationId: 'getWorkspaceVariable', summary: 'Show a variable of a workspace' },
  updateOfWorkspace: {
    ...update,
    operationId: 'updateWorkspaceVariable',
    summary: 'Change a variable of a workspace',
  },
  destroyOfWorkspace: {
    ...destroy,
    operationId: 'deleteWorkspaceVariable',
    summary: 'Delete a variable of a workspace',
  },
  effective: {
    ...list,
    operationId: 'listEffectiveWorkspaceVariables',
    summary: 'List the effective variables of a workspace',
    description:
      'These are its own variables and those of the sets that apply to it, one for each key and category. Pages are shorter if the values are long.',
  },
  listAnywhere: {
    ...list,
    operationId: 'listVariablesByName',
    summary: 'List the own variables of a workspace by its name',
    query: {
      ...list.query,
      'filter[organization][name]': requiredParameter('The name of the organization.'),
      'filter[workspace][name]': requiredParameter('The name of the workspace.'),
    },
  },
  createAnywhere: {
    ...create,
    operationId: 'createVariable',
    summary: 'Create a variable of a workspace that the body or the query names',
    description:
      'Send the relationship `workspace`, or the names of the organization and the workspace as filters in the body or in the query.',
    query: {
      'filter[organization][name]': textParameter('The name of the organization.'),
      'filter[workspace][name]': textParameter('The name of the workspace.'),
    },
    body: describeBody(createAnywhereBody, {
      data: { ...NEW_VARIABLE, relationships: { workspace: { data: { id: 'ws-7hQ2vXbN4kTgYw3D' } } } },
    }),
    refusals: { ...create.refusals, 'bad-request': 'The request does not name a workspace, or its JSON is not valid.' },
  },
  updateAnywhere: {
    ...update,
    operationId: 'updateVariable',
    summary: 'Change a variable of any workspace by its id',
  },
  destroyAnywhere: {
    ...destroy,
    operationId: 'deleteVariable',
    summary: 'Delete a variable of any workspace by its id',
  },
  listOfSet: { ...list, operationId: 'listVariableSetVariables', summary: 'List the variables of a variable set' },
  createInSet: {
    ...create,
    operationId: 'createVariableSetVariable',
    summary: 'Create a variable of a variable set',
    description: 'A key and category can occur only once in all global variable sets of an organization.',
  },
  showOfSet: { ...read, operationId: 'getVariableSetVariable', summary: 'Show a variable of a variable set' },
  updateOfSet: {
    ...update,
    operationId: 'updateVariableSetVariable',
    summary: 'Change a variable of a variable set',
  },
  destroyOfSet: {
    ...destroy,
    operationId: 'deleteVariableSetVariable',
    summary: 'Delete a variable of a variable set',
  },
});
