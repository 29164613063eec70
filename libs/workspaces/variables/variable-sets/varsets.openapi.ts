import { z } from 'zod';
import {
  count,
  defineResource,
  describeBody,
  describeController,
  describeResourceBody,
  exampleText,
  type OperationDescription,
  parameter,
  related,
  timestamp,
} from '#api/json-api/description';
import { createBody, targetBodies, updateBody } from './variable-sets.body.js';
import { INCLUDES, VarsetsController } from './varsets.controller.js';

export const variableSetSchema = defineResource({
  name: 'VariableSet',
  type: 'varsets',
  description: 'Variables that several workspaces share.',
  exampleId: 'varset-5rLhYb9TnKx2VdQs',
  attributes: {
    name: exampleText('aws'),
    description: exampleText('Credentials of the AWS account').nullable(),
    global: z.boolean().meta({ description: 'Whether the set applies to all workspaces of the organization.' }),
    priority: z
      .boolean()
      .meta({ description: 'Whether its variables win over variables of narrower scopes with the same key.' }),
    'created-at': timestamp(),
    'updated-at': timestamp(),
    'var-count': count(),
    'workspace-count': count('The number of workspaces in the relationship.'),
    'project-count': count('The number of projects in the relationship.'),
  },
  relationships: {
    organization: related.always('organizations'),
    parent: related.always('organizations', 'projects').meta({ description: 'The owner of the set.' }),
    vars: related.many('vars'),
    workspaces: related.many('workspaces').meta({
      description: 'The workspaces that the set is applied to and that you may read.',
    }),
    projects: related.many('projects').meta({
      description: 'The projects that the set is applied to and that you may read.',
    }),
    stacks: related.many('stacks').meta({ description: 'Always empty, because there are no stacks.' }),
  },
  hasSelfLink: true,
});

/** If `include` has the variables, the server records that the caller has read them. */
const READS = ['VariablesListed'];

const include = { values: INCLUDES, resources: ['Project', 'Variable', 'Workspace'], events: READS };

const VARIABLE_SETS = {
  name: 'Variable sets',
  description: 'Variables that several workspaces share.',
  resource: variableSetSchema,
  include,
};

const list = {
  query: { q: parameter.text('Only variable sets with this text in their name, ignoring case.') },
};

const update = {
  include,
  description:
    'A list of workspaces or projects replaces the previous one. Complete definitions of variables create variables; identifiers of variables are ignored.',
  body: describeResourceBody(updateBody, { priority: true }),
  refusals: {
    unprocessable:
      'Another set has the name, a target does not exist or is outside of the owning project, or a set of a project would be global.',
  },
  events: ['VariableSetUpdated', 'VariableSetApplied', 'VariableSetWithdrawn', 'VariableCreated', ...READS],
} satisfies OperationDescription;

const describeTargets = (kind: 'workspaces' | 'projects') =>
  describeBody(targetBodies[kind], {
    data: [{ type: kind, id: kind === 'workspaces' ? 'ws-7hQ2vXbN4kTgYw3D' : 'prj-3mRzWq8YvLbT5kHx' }],
  });

const apply = {
  refusals: { unprocessable: 'The set is global, or a target does not exist or is outside of the owning project.' },
  events: ['VariableSetApplied'],
} satisfies OperationDescription;

const withdraw = {
  description: 'Targets that the set is not applied to are ignored.',
  refusals: { unprocessable: 'The set is global.' },
  events: ['VariableSetWithdrawn'],
} satisfies OperationDescription;

export const varsetsOperations = describeController(VarsetsController, VARIABLE_SETS, {
  list,
  listForWorkspace: {
    ...list,
    operationId: ['listWorkspaceVariableSets', 'listApplicableVariableSets'],
    summary: 'List the variable sets that apply to a workspace',
  },
  listForProject: {
    ...list,
    summary: 'List the variable sets that apply to a project',
  },
  create: {
    include,
    description:
      'The relationship `parent` names the project that owns the set. Without it, the organization owns the set. Variables and targets can be in the same request.',
    body: describeResourceBody(
      createBody,
      { name: 'aws', description: 'Credentials of the AWS account' },
      { workspaces: { data: [{ type: 'workspaces', id: 'ws-7hQ2vXbN4kTgYw3D' }] } },
    ),
    refusals: update.refusals,
    events: ['VariableSetCreated', 'VariableSetApplied', 'VariableCreated', ...READS],
  },
  show: {},
  update,
  replace: { ...update, summary: 'Change a variable set with PUT' },
  destroy: { summary: 'Delete a variable set with its variables' },
  applyToWorkspaces: {
    ...apply,
    operationId: 'applyVariableSetToWorkspaces',
    summary: 'Apply a variable set to workspaces',
    body: describeTargets('workspaces'),
  },
  withdrawFromWorkspaces: {
    ...withdraw,
    operationId: 'withdrawVariableSetFromWorkspaces',
    summary: 'Withdraw a variable set from workspaces',
    body: describeTargets('workspaces'),
  },
  applyToProjects: {
    ...apply,
    operationId: 'applyVariableSetToProjects',
    summary: 'Apply a variable set to projects',
    body: describeTargets('projects'),
  },
  withdrawFromProjects: {
    ...withdraw,
    operationId: 'withdrawVariableSetFromProjects',
    summary: 'Withdraw a variable set from projects',
    body: describeTargets('projects'),
  },
});
