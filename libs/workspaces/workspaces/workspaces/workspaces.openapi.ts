import { z } from 'zod';
import {
  absentIfSelfHosted,
  always,
  asOfParameter,
  count,
  defineResource,
  describeBody,
  describeController,
  describeOptionalBody,
  describeResourceBody,
  describeSettings,
  exampleText,
  type OperationDescription,
  permissionFlags,
  related,
  serverPath,
  timestamp,
} from '#api/json-api/description';
import { EXECUTION_MODES } from '#platform/kernel';
import { workspaceListParameters } from '../lists/workspace-lists.openapi.js';
import { WORKSPACE_SETTINGS } from '../settings/workspace-settings.js';
import { createBody, lockBody, lockRenewalBody, movedBody, sshKeyBody, updateBody } from './workspaces.body.js';
import { WorkspacesController } from './workspaces.controller.js';
import { WORKSPACE_INCLUDES } from './workspaces.include.js';

const permissions = permissionFlags(
  'can-update',
  'can-destroy',
  'can-queue-run',
  'can-read-run',
  'can-read-variable',
  'can-update-variable',
  'can-read-state-versions',
  'can-read-state-outputs',
  'can-create-state-versions',
  'can-queue-apply',
  'can-queue-destroy',
  'can-lock',
  'can-unlock',
  'can-force-unlock',
  'can-read-settings',
  'can-manage-tags',
  'can-manage-run-tasks',
  'can-force-delete',
  'can-manage-assessments',
  'can-manage-ephemeral-workspaces',
  'can-read-assessment-results',
  'can-read-change-requests',
  'can-update-change-requests',
);

const vcsRepo = z.strictObject({
  branch: exampleText('main'),
  identifier: exampleText('acme/network'),
  'display-identifier': exampleText('acme/network'),
  'ingress-submodules': z.boolean(),
  'oauth-token-id': z.string().nullable(),
  'github-app-installation-id': z.string().nullable(),
  'tags-regex': z.string().nullable(),
  'repository-http-url': always(null),
  'service-provider': always(null),
  'webhook-url': always(null),
});

const version = exampleText('1.13.0', 'A version, a constraint, or `latest`.');

/** Attributes that show settings in another form than requests and events have them, or with a description. */
const settings = {
  ...describeSettings(WORKSPACE_SETTINGS.shape, ['agentPoolId', 'executionMode']),
  'assessments-enabled': absentIfSelfHosted(z.boolean()),
  'auto-destroy-activity-duration': exampleText(
    '14d',
    'Days or hours after the last change of the state until the resources are destroyed.',
  )
    .nullable()
    .meta({ examples: [null] }),
  'auto-destroy-at': timestamp('When the resources are destroyed: as set, otherwise as the duration says.')
    .nullable()
    .meta({ examples: [null] }),
  'auto-destroy-fixed-at': timestamp('`auto-destroy-at` if it is set; null if it follows from the duration.')
    .nullable()
    .meta({ examples: [null] }),
  'iac-version': version,
  'inherits-project-auto-destroy': z.boolean().meta({ examples: [true] }),
  'setting-overwrites': z.strictObject({ 'execution-mode': z.boolean(), 'agent-pool': z.boolean() }).meta({
    description: 'Which settings are its own. The others follow the project or the organization.',
  }),
  source: exampleText('tfe-api'),
  'terraform-version': version,
  'trigger-patterns': z.array(z.string()).meta({ examples: [[]] }),
  'trigger-prefixes': z.array(z.string()).meta({ examples: [[]] }),
  'vcs-repo': vcsRepo.nullable().meta({ examples: [null] }),
  'vcs-repo-identifier': exampleText('acme/network')
    .nullable()
    .meta({ examples: [null] }),
};

/** Averages over the last runs; null if no counted run has ended. */
const metric = () => count('Over the last runs; null if none has ended.').nullable();

export const workspaceSchema = defineResource({
  name: 'Workspace',
  type: 'workspaces',
  description: 'The state, the variables and the runs of one Terraform configuration.',
  exampleId: 'ws-7hQ2vXbN4kTgYw3D',
  attributes: {
    ...settings,
    actions: z.strictObject({ 'is-destroyable': z.boolean() }),
    'apply-duration-average': metric(),
    'auto-destroy-status': z
      .enum(['blocked'])
      .nullable()
      .meta({
        description: '`blocked`: the resources are not destroyed, because `allow-destroy-plan` is false.',
        examples: [null],
      }),
    'can-queue-destroy-plan': z.boolean(),
    'created-at': timestamp(),
    environment: always('default'),
    'execution-mode': z.enum(EXECUTION_MODES).meta({ description: 'The effective mode.' }),
    'hyok-enabled': always(false),
    'last-assessment-result-at': timestamp('When the newest result of a health assessment was recorded.')
      .nullable()
      .meta({ examples: [null] }),
    'latest-change-at': timestamp('When its settings, state or runs changed last.'),
    locked: z.boolean(),
    'locked-reason': z.string().nullable(),
    'lock-expires-at': timestamp('When the lock ends by itself. Null if it does not.').nullable(),
    'migration-environment': always(null),
    name: exampleText('network'),
    'no-code-upgrade-available': always(false),
    'oauth-client-name': always(null),
    operations: z.boolean().meta({ description: 'Whether the execution mode is not `local`.', examples: [true] }),
    permissions,
    'plan-duration-average': metric(),
    'policy-check-failures': metric(),
    'resource-count': count('The number of resources in the current state.'),
    'run-failures': metric(),
    'tag-names': z.array(exampleText('env')).meta({ description: 'Keys of its own tags.' }),
    'updated-at': timestamp(),
    'workspace-kpis-runs-count': metric(),
  },
  relationships: {
    'agent-pool': related.one('agent-pools'),
    'current-assessment-result': related.one('assessment-results'),
    'current-configuration-version': related.one('configuration-versions'),
    'current-run': related.one('runs'),
    'current-state-version': related.one('state-versions'),
    'data-retention-policy': related.one('data-retention-policy-delete-olders', 'data-retention-policy-dont-deletes'),
    'effective-tag-bindings': related.ifIncluded('effective-tag-bindings'),
    'latest-run': related.one('runs'),
    'locked-by': related.one('users', 'teams', 'runs'),
    organization: related.always('organizations'),
    outputs: related.many('workspace-outputs'),
    project: related.always('projects'),
    readme: related.none(),
    'remote-state-consumers': related.link(),
    'ssh-key': related.one('ssh-keys'),
    'tag-bindings': related.ifIncluded('tag-bindings'),
    vars: related.many('vars'),
  },
  links: {
    self: serverPath('/api/v2/organizations/acme/workspaces/network'),
    'self-html': serverPath('/app/acme/workspaces/network'),
  },
});

export const WORKSPACES = {
  name: 'Workspaces',
  description: 'Workspaces with their settings and locks, and moves between projects.',
};

const group = {
  ...WORKSPACES,
  resource: workspaceSchema,
  include: {
    values: WORKSPACE_INCLUDES,
    resources: [
      'AgentPool',
      'Apply',
      'AssessmentResult',
      'ConfigurationVersion',
      'IngressAttributes',
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
    ],
    events: ['StateVersionShown', 'ConfigurationVersionShown'],
  },
};

const headers = {
  'Terraform-Version': z.string().optional().meta({
    description:
      'The version of the client, which Terraform and OpenTofu send. It decides on `latest` and constraints.',
  }),
};

const read = { query: asOfParameter() };

const update = {
  headers,
  body: describeResourceBody(updateBody, { 'auto-apply': true, description: 'Networks of all regions' }),
  events: [
    'WorkspaceUpdated',
    'WorkspaceMoved',
    'WorkspaceTagBound',
    'WorkspaceTagUnbound',
    'RemoteStateConsumersRemoved',
  ],
} satisfies OperationDescription;

const safeDelete = {
  description: 'The server deletes the workspace only if it is unlocked and manages no resources.',
  refusals: { conflict: 'The workspace is locked, its latest state is being processed, or it manages resources.' },
} satisfies OperationDescription;

/** An unlock also decides on the state versions that were created under the lock. */
const UNLOCK_EVENTS = ['WorkspaceUnlocked', 'StateVersionPromoted', 'StateVersionDiscarded'];

export const workspacesOperations = describeController(WorkspacesController, group, {
  create: {
    description: 'Without a project, the workspace is created in the default project of the organization.',
    headers,
    body: describeResourceBody(createBody, { name: 'network' }),
  },
  list: {
    description: 'The list has the workspaces that you may read.',
    query: workspaceListParameters,
  },
  showById: read,
  showByName: read,
  updateById: { ...update, summary: 'Change or move a workspace' },
  updateByName: { ...update, summary: 'Change or move a workspace by its name' },
  safeDeleteById: { ...safeDelete, summary: 'Delete a workspace if it is empty' },
  safeDeleteByName: {
    ...safeDelete,
    summary: 'Delete a workspace by its name if it is empty',
  },
  destroyById: {},
  destroyByName: {},
  moveInto: {
    operationId: 'moveWorkspacesToProject',
    summary: 'Move workspaces into a project',
    description: 'The server moves all of the workspaces or none.',
    body: describeBody(movedBody, { data: [{ type: 'workspaces', id: 'ws-7hQ2vXbN4kTgYw3D' }] }),
    events: ['WorkspaceMoved'],
  },
  lock: {
    description:
      'With `expires-in`, the lock ends by itself after this number of seconds, unless its holder renews it.',
    body: describeOptionalBody(lockBody, { reason: 'Upgrading the provider' }),
    refusals: { conflict: 'The workspace is locked already.' },
    events: ['WorkspaceLocked', 'WorkspaceLockLeased'],
  },
  renewLock: {
    operationId: 'renewWorkspaceLock',
    summary: 'Move the end of your lock',
    description:
      'The lock ends this number of seconds from now. An unlock ends it earlier. A lock without `expires-in` gets no end.',
    body: describeBody(lockRenewalBody, { 'expires-in': 300 }),
    refusals: { conflict: 'The workspace is not locked, another caller holds the lock, or the lock has no end.' },
    events: ['WorkspaceLockLeased'],
  },
  unlock: {
    refusals: { conflict: 'The workspace is not locked, or another caller holds the lock.' },
    events: UNLOCK_EVENTS,
  },
  forceUnlock: {
    summary: 'Unlock a workspace that another caller has locked',
    refusals: { conflict: 'The workspace is not locked.' },
    events: UNLOCK_EVENTS,
  },
  assignSshKey: {
    operationId: 'assignWorkspaceSshKey',
    summary: 'Assign or remove the SSH key of a workspace',
    description: 'The attribute `id` is the id of the key; null removes it.',
    body: describeResourceBody(sshKeyBody, { id: 'sshkey-2bQx7VnKd9RtYpLc' }),
    events: ['WorkspaceSshKeyAssigned', 'WorkspaceSshKeyUnassigned'],
  },
});
