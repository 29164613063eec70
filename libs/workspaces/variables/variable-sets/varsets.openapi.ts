import {
  describeBody,
  describeController,
  describeDocument,
  describeEmpty,
  describePage,
  includeParameter,
  pageParameters,
  textParameter,
  type OperationDescription,
} from '#api/json-api/description';
import { createBody, targetBodies, updateBody } from './variable-sets.body.js';
import { INCLUDES, VarsetsController } from './varsets.controller.js';

const VARIABLE_SETS = { name: 'Variable sets', description: 'Variables that several workspaces share.' };

const INCLUDED = ['Project', 'Variable', 'Workspace'];

/** If `include` has the variables, the server records that the caller has read them. */
const READS = ['VariablesListed'];

const list = {
  query: {
    ...pageParameters(),
    ...includeParameter(INCLUDES),
    q: textParameter('Only variable sets with this text in their name, ignoring case.'),
  },
  answer: describePage('VariableSet', { included: INCLUDED }),
  events: READS,
} satisfies Partial<OperationDescription>;

const document = {
  query: includeParameter(INCLUDES),
  answer: describeDocument('VariableSet', { included: INCLUDED }),
} satisfies Partial<OperationDescription>;

const update = {
  ...document,
  description:
    'A list of workspaces or projects replaces the previous one. Complete definitions of variables create variables; identifiers of variables are ignored.',
  body: describeBody(updateBody, { data: { type: 'varsets', attributes: { priority: true } } }),
  refusals: {
    unprocessable:
      'Another set has the name, a target does not exist or is outside of the owning project, or a set of a project would be global.',
  },
  events: ['VariableSetUpdated', 'VariableSetApplied', 'VariableSetWithdrawn', 'VariableCreated', ...READS],
} satisfies Partial<OperationDescription>;

const describeTargets = (kind: 'workspaces' | 'projects') =>
  describeBody(targetBodies[kind], {
    data: [{ type: kind, id: kind === 'workspaces' ? 'ws-7hQ2vXbN4kTgYw3D' : 'prj-3mRzWq8YvLbT5kHx' }],
  });

const apply = {
  answer: describeEmpty(),
  refusals: { unprocessable: 'The set is global, or a target does not exist or is outside of the owning project.' },
  events: ['VariableSetApplied'],
} satisfies Partial<OperationDescription>;

const withdraw = {
  description: 'Targets that the set is not applied to are ignored.',
  answer: describeEmpty(),
  refusals: { unprocessable: 'The set is global.' },
  events: ['VariableSetWithdrawn'],
} satisfies Partial<OperationDescription>;

export const varsetsOperations = describeController(VarsetsController, VARIABLE_SETS, {
  list: { ...list, operationId: 'listVariableSets', summary: 'List the variable sets of an organization' },
  listForWorkspace: {
    ...list,
    operationId: ['listWorkspaceVariableSets', 'listApplicableVariableSets'],
    summary: 'List the variable sets that apply to a workspace',
  },
  listForProject: {
    ...list,
    operationId: 'listProjectVariableSets',
    summary: 'List the variable sets that apply to a project',
  },
  create: {
    ...document,
    operationId: 'createVariableSet',
    summary: 'Create a variable set',
    description:
      'The relationship `parent` names the project that owns the set. Without it, the organization owns the set. Variables and targets can be in the same request.',
    body: describeBody(createBody, {
      data: {
        type: 'varsets',
        attributes: { name: 'aws', description: 'Credentials of the AWS account' },
        relationships: { workspaces: { data: [{ type: 'workspaces', id: 'ws-7hQ2vXbN4kTgYw3D' }] } },
      },
    }),
    refusals: update.refusals,
    events: ['VariableSetCreated', 'VariableSetApplied', 'VariableCreated', ...READS],
  },
  show: { ...document, operationId: 'getVariableSet', summary: 'Show a variable set', events: READS },
  update: { ...update, operationId: 'updateVariableSet', summary: 'Change a variable set' },
  replace: { ...update, operationId: 'replaceVariableSet', summary: 'Change a variable set with PUT' },
  destroy: {
    operationId: 'deleteVariableSet',
    summary: 'Delete a variable set with its variables',
    answer: describeEmpty(),
  },
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
