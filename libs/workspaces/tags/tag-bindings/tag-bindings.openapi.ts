import {
  asOfParameter,
  describeBody,
  describeController,
  describeList,
  type OperationDescription,
} from '#api/json-api/description';
import { tagBindingsBody } from '#organizations/tag-bindings';
import { TagBindingsController } from './tag-bindings.controller.js';

export const TAG_BINDINGS = { name: 'Tag bindings', description: 'Key-value tags of workspaces and projects.' };

const body = describeBody(tagBindingsBody, {
  data: [{ type: 'tag-bindings', attributes: { key: 'env', value: 'prod' } }],
});

const OF_WORKSPACE = { body, events: ['WorkspaceTagBound'] } as const;
const OF_PROJECT = { body, events: ['ProjectTagBound'] } as const;

const REMOVING =
  'The server removes the bindings with these keys. A binding with a value removes only a binding with the same value.';

const REPLACING = 'The server removes bindings that the request does not have.';

/** Handlers with the path of the list and the path of the relationship. */
const describeOwnBindings = (owner: 'Workspace' | 'Project'): OperationDescription => ({
  operationId: [`list${owner}TagBindings`, `list${owner}TagBindingRelationships`],
  summary: `List the own tag bindings of a ${owner.toLowerCase()}`,
  query: asOfParameter(),
  answer: describeList('TagBinding'),
});

export const tagBindingsOperations = describeController(TagBindingsController, TAG_BINDINGS, {
  ofWorkspace: describeOwnBindings('Workspace'),
  ofProject: describeOwnBindings('Project'),
  addToWorkspace: {
    ...OF_WORKSPACE,
    operationId: 'updateWorkspaceTagBindings',
    summary: 'Add or change tag bindings of a workspace',
    description: 'The answer lists the bindings of the request, in their order.',
    answer: describeList('TagBinding'),
  },
  addToProject: {
    ...OF_PROJECT,
    operationId: 'updateProjectTagBindings',
    summary: 'Add or change tag bindings of a project',
    description: 'The answer lists the bindings of the request, in their order.',
    answer: describeList('TagBinding'),
  },
  relateToWorkspace: {
    ...OF_WORKSPACE,
    operationId: 'addWorkspaceTagBindings',
    summary: 'Add or change tag bindings of a workspace, without a document in the answer',
  },
  replaceInWorkspace: {
    body,
    events: ['WorkspaceTagBound', 'WorkspaceTagUnbound', 'WorkspaceTagRemoved'],
    operationId: 'replaceWorkspaceTagBindings',
    summary: 'Replace the tag bindings of a workspace',
    description: REPLACING,
  },
  removeFromWorkspace: {
    body,
    events: ['WorkspaceTagUnbound', 'WorkspaceTagRemoved'],
    operationId: 'removeWorkspaceTagBindings',
    summary: 'Remove tag bindings of a workspace',
    description: REMOVING,
  },
  relateToProject: {
    ...OF_PROJECT,
    operationId: 'addProjectTagBindings',
    summary: 'Add or change tag bindings of a project, without a document in the answer',
  },
  replaceInProject: {
    body,
    events: ['ProjectTagBound', 'ProjectTagUnbound'],
    operationId: 'replaceProjectTagBindings',
    summary: 'Replace the tag bindings of a project',
    description: REPLACING,
  },
  removeFromProject: {
    body,
    events: ['ProjectTagUnbound'],
    operationId: 'removeProjectTagBindings',
    summary: 'Remove tag bindings of a project',
    description: REMOVING,
  },
});
