import { z } from 'zod';
import {
  asOfParameter,
  choiceParameter,
  describeBody,
  describeController,
  describeDocument,
  describeEmpty,
  describeOptionalBody,
  describePage,
  includeParameter,
  listParameter,
  pageParameters,
  sortParameter,
  textParameter,
  type OperationDescription,
} from '#api/json-api/description';
import { SORTS } from '../lists/workspace-lists.queries.js';
import { LOCK_STATES, TAG_GAPS } from '../lists/workspaces.filter.js';
import { createBody, lockBody, movedBody, sshKeyBody, updateBody } from './workspaces.body.js';
import { WorkspacesController } from './workspaces.controller.js';
import { WORKSPACE_INCLUDES } from './workspaces.include.js';

export const WORKSPACES = {
  name: 'Workspaces',
  description: 'Workspaces with their settings and locks, and moves between projects.',
};

/** Names of the resources that `include` can add. */
const INCLUDED = [
  'AgentPool',
  'Apply',
  'ConfigurationVersion',
  'EffectiveTagBinding',
  'Organization',
  'Plan',
  'Project',
  'Run',
  'StateVersion',
  'TagBinding',
  'Team',
  'User',
  'Variable',
  'WorkspaceOutput',
];

/** Events of reads that include states, their outputs or configuration versions. */
const INCLUDE_EVENTS = ['StateVersionShown', 'ConfigurationVersionShown'];

const headers = {
  'Terraform-Version': z.string().optional().meta({
    description:
      'The version of the client, which Terraform and OpenTofu send. It decides on `latest` and constraints.',
  }),
};

const read = {
  query: { ...includeParameter(WORKSPACE_INCLUDES), ...asOfParameter() },
  answer: describeDocument('Workspace', { included: INCLUDED }),
  events: INCLUDE_EVENTS,
} satisfies Partial<OperationDescription>;

const update = {
  headers,
  body: describeBody(updateBody, {
    data: { type: 'workspaces', attributes: { 'auto-apply': true, description: 'Networks of all regions' } },
  }),
  answer: describeDocument('Workspace'),
  events: [
    'WorkspaceUpdated',
    'WorkspaceMoved',
    'WorkspaceTagBound',
    'WorkspaceTagUnbound',
    'RemoteStateConsumersRemoved',
  ],
} satisfies Partial<OperationDescription>;

const safeDelete = {
  description: 'The server deletes the workspace only if it is unlocked and manages no resources.',
  answer: describeEmpty(),
  refusals: { conflict: 'The workspace is locked, its latest state is being processed, or it manages resources.' },
} satisfies Partial<OperationDescription>;

/** An unlock also decides on the state versions that were created under the lock. */
const UNLOCK_EVENTS = ['WorkspaceUnlocked', 'StateVersionPromoted', 'StateVersionDiscarded'];

const lock = { answer: describeDocument('Workspace') } satisfies Partial<OperationDescription>;

const OWN_EXTENSION = 'An extension of Cadastre.';

const listQuery = {
  ...pageParameters(),
  ...includeParameter(WORKSPACE_INCLUDES),
  ...asOfParameter(),
  ...sortParameter(SORTS),
  'search[name]': textParameter('Only workspaces with this text in their name, ignoring case.'),
  'search[wildcard-name]': textParameter('Only workspaces whose name matches. `*` stands for any text.'),
  'search[tags]': listParameter('Only workspaces with all of these own tags.'),
  'search[exclude-tags]': listParameter('Only workspaces with none of these own tags.'),
  'filter[tagged]': listParameter('Only workspaces with tags of all of these keys, each with any value.'),
  'filter[tagged][0][key]': textParameter(
    'Only workspaces to which a tag with this key applies. For several tags, use other numbers than 0.',
  ),
  'filter[tagged][0][value]': textParameter(
    'The value of the tag with the same number. Without a key, a tag of any key.',
    { mostCharacters: 256 },
  ),
  'filter[project][id]': textParameter('Only workspaces of this project.'),
  'filter[changed-since]': textParameter(
    'Only workspaces whose `latest-change-at` is this ISO 8601 timestamp or later.',
  ),
  'filter[id]': listParameter(`${OWN_EXTENSION} Only workspaces with one of these ids.`),
  'filter[tag-gaps]': choiceParameter(
    [TAG_GAPS],
    `${OWN_EXTENSION} Only workspaces that have no value for at least one reserved tag key.`,
  ),
  'filter[locked]': choiceParameter(
    LOCK_STATES,
    `${OWN_EXTENSION} Only workspaces that are locked (\`true\`), or only those that are not (\`false\`).`,
  ),
  'filter[current-run][status]': listParameter('Only workspaces whose current run has one of these statuses.'),
};

export const workspacesOperations = describeController(WorkspacesController, WORKSPACES, {
  create: {
    operationId: 'createWorkspace',
    summary: 'Create a workspace',
    description: 'Without a project, the workspace is created in the default project of the organization.',
    headers,
    body: describeBody(createBody, { data: { type: 'workspaces', attributes: { name: 'network' } } }),
    answer: describeDocument('Workspace'),
  },
  list: {
    operationId: 'listWorkspaces',
    summary: 'List the workspaces of an organization',
    description: 'The list has the workspaces that you may read.',
    query: listQuery,
    answer: describePage('Workspace', { included: INCLUDED }),
    events: INCLUDE_EVENTS,
  },
  showById: { ...read, operationId: 'getWorkspace', summary: 'Show a workspace' },
  showByName: { ...read, operationId: 'getWorkspaceByName', summary: 'Show a workspace by its name' },
  updateById: { ...update, operationId: 'updateWorkspace', summary: 'Change or move a workspace' },
  updateByName: { ...update, operationId: 'updateWorkspaceByName', summary: 'Change or move a workspace by its name' },
  safeDeleteById: { ...safeDelete, operationId: 'safeDeleteWorkspace', summary: 'Delete a workspace if it is empty' },
  safeDeleteByName: {
    ...safeDelete,
    operationId: 'safeDeleteWorkspaceByName',
    summary: 'Delete a workspace by its name if it is empty',
  },
  forceDeleteById: {
    operationId: 'deleteWorkspace',
    summary: 'Delete a workspace',
    answer: describeEmpty(),
  },
  forceDeleteByName: {
    operationId: 'deleteWorkspaceByName',
    summary: 'Delete a workspace by its name',
    answer: describeEmpty(),
  },
  moveInto: {
    operationId: 'moveWorkspacesToProject',
    summary: 'Move workspaces into a project',
    description: 'The server moves all of the workspaces or none.',
    body: describeBody(movedBody, { data: [{ type: 'workspaces', id: 'ws-7hQ2vXbN4kTgYw3D' }] }),
    answer: describeEmpty(),
    events: ['WorkspaceMoved'],
  },
  lock: {
    ...lock,
    operationId: 'lockWorkspace',
    summary: 'Lock a workspace',
    body: describeOptionalBody(lockBody, { reason: 'Upgrading the provider' }),
    refusals: { conflict: 'The workspace is locked already.' },
  },
  unlock: {
    ...lock,
    operationId: 'unlockWorkspace',
    summary: 'Unlock a workspace',
    refusals: { conflict: 'The workspace is not locked, or another caller holds the lock.' },
    events: UNLOCK_EVENTS,
  },
  forceUnlock: {
    ...lock,
    operationId: 'forceUnlockWorkspace',
    summary: 'Unlock a workspace that another caller has locked',
    refusals: { conflict: 'The workspace is not locked.' },
    events: UNLOCK_EVENTS,
  },
  assignSshKey: {
    operationId: 'assignWorkspaceSshKey',
    summary: 'Assign or remove the SSH key of a workspace',
    description: 'The attribute `id` is the id of the key; null removes it.',
    body: describeBody(sshKeyBody, { data: { type: 'workspaces', attributes: { id: 'sshkey-2bQx7VnKd9RtYpLc' } } }),
    answer: describeDocument('Workspace'),
    events: ['WorkspaceSshKeyAssigned', 'WorkspaceSshKeyUnassigned'],
  },
});
