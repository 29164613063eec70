import { z } from 'zod';
import {
  defineResource,
  describeController,
  describeResourceBody,
  exampleText,
  type OperationDescription,
  optionalPageParameters,
  parameter,
  related,
  serverPath,
  timestamp,
} from '#api/json-api/description';
import { createAnywhereBody, createBody, updateBody } from './variables.body.js';
import { VarsController } from './vars.controller.js';

export const variableSchema = defineResource({
  name: 'Variable',
  type: 'vars',
  description: 'A Terraform variable or an environment variable of a workspace or of a variable set.',
  exampleId: 'var-6tWmZk3QhYs8XbNf',
  attributes: {
    key: exampleText('region'),
    value: exampleText('eu-central-1', 'Null if the variable is sensitive.').nullable(),
    description: exampleText('Where the networks are').nullable(),
    sensitive: z.boolean().meta({ description: 'Whether responses leave the value out.' }),
    category: z.enum(['terraform', 'env']),
    hcl: z.boolean().meta({ description: 'Whether the value is an HCL expression instead of a text.' }),
    'created-at': timestamp(),
    'version-id': exampleText('9e107d9d372bb6826bd81d3542a419d6', 'Differs after each update.'),
  },
  relationships: z
    .union([
      z.strictObject({ configurable: related.always('workspaces') }),
      z.strictObject({ varset: related.always('varsets') }),
    ])
    .meta({ description: 'The owner: a workspace (`configurable`) or a variable set (`varset`).' }),
  links: { self: serverPath('/api/v2/workspaces/ws-7hQ2vXbN4kTgYw3D/vars/var-6tWmZk3QhYs8XbNf') },
});

const VARIABLES = {
  name: 'Variables',
  description: 'Terraform variables and environment variables of workspaces and variable sets.',
  resource: variableSchema,
};

const list = { query: optionalPageParameters() };

const variable = { key: 'region', value: 'eu-central-1', category: 'terraform' } as const;

const create = {
  body: describeResourceBody(createBody, variable),
  refusals: {
    unprocessable:
      'Another variable has this key and category, or the owner has too many variables or too long values.',
  },
} satisfies OperationDescription;

const update = {
  description: 'The key of a sensitive variable cannot change, and a sensitive variable stays sensitive.',
  body: describeResourceBody(updateBody, { value: 'eu-west-1' }),
  refusals: { unprocessable: 'Another variable has this key and category, or the variable is sensitive.' },
} satisfies OperationDescription;

export const varsOperations = describeController(VarsController, VARIABLES, {
  listOfWorkspace: { ...list, summary: 'List the own variables of a workspace' },
  createInWorkspace: create,
  showOfWorkspace: {},
  updateOfWorkspace: update,
  destroyOfWorkspace: {},
  listEffective: {
    query: {
      ...list.query,
      'filter[overridden]': parameter.choice(
        ['true'],
        'Also the variables that others override: each directly after the effective one, the strongest first.',
      ),
    },
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
      'filter[organization][name]': parameter.required('The name of the organization.'),
      'filter[workspace][name]': parameter.required('The name of the workspace.'),
    },
  },
  createAnywhere: {
    ...create,
    operationId: 'createVariable',
    summary: 'Create a variable of a workspace that the body or the query names',
    description:
      'Send the relationship `workspace`, or the names of the organization and the workspace as filters in the body or in the query.',
    query: {
      'filter[organization][name]': parameter.text('The name of the organization.'),
      'filter[workspace][name]': parameter.text('The name of the workspace.'),
    },
    body: describeResourceBody(createAnywhereBody, variable, { workspace: { data: { id: 'ws-7hQ2vXbN4kTgYw3D' } } }),
    refusals: { ...create.refusals, 'bad-request': 'The request does not name a workspace, or its JSON is not valid.' },
  },
  updateAnywhere: { ...update, operationId: 'updateVariable', summary: 'Change a variable of any workspace by its id' },
  destroyAnywhere: { operationId: 'deleteVariable', summary: 'Delete a variable of any workspace by its id' },
  listOfVariableSet: list,
  createInVariableSet: {
    ...create,
    description: 'A key and category can occur only once in all global variable sets of an organization.',
  },
  showOfVariableSet: {},
  updateOfVariableSet: update,
  destroyOfVariableSet: {},
});
