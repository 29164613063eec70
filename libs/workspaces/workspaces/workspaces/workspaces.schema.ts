import { z } from 'zod';
import { EXECUTION_MODES } from '#platform/kernel';
import {
  absentIfSelfHosted,
  always,
  count,
  defineResource,
  describeSettings,
  exampleText,
  serverPath,
  permissionFlags,
  relatedAlways,
  relatedIfIncluded,
  relatedLink,
  relatedMany,
  relatedNone,
  relatedOne,
  timestamp,
} from '#api/json-api/description';
import { WORKSPACE_SETTINGS } from '../settings/workspace-settings.js';

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
  'auto-destroy-activity-duration': exampleText('14d', 'Days or hours without a run until the resources are destroyed.')
    .nullable()
    .meta({ examples: [null] }),
  'auto-destroy-at': timestamp()
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
    'auto-destroy-status': always(null),
    'can-queue-destroy-plan': z.boolean(),
    'created-at': timestamp(),
    environment: always('default'),
    'execution-mode': z.enum(EXECUTION_MODES).meta({ description: 'The effective mode.' }),
    'hyok-enabled': always(false),
    'last-assessment-result-at': always(null),
    'latest-change-at': timestamp('When its settings, state or runs changed last.'),
    locked: z.boolean(),
    'locked-reason': z.string().nullable(),
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
    'agent-pool': relatedOne('agent-pools'),
    'current-assessment-result': relatedNone(),
    'current-configuration-version': relatedOne('configuration-versions'),
    'current-run': relatedOne('runs'),
    'current-state-version': relatedOne('state-versions'),
    'data-retention-policy': relatedOne('data-retention-policy-delete-olders', 'data-retention-policy-dont-deletes'),
    'effective-tag-bindings': relatedIfIncluded('effective-tag-bindings'),
    'latest-run': relatedOne('runs'),
    'locked-by': relatedOne('users', 'teams', 'runs'),
    organization: relatedAlways('organizations'),
    outputs: relatedMany('workspace-outputs'),
    project: relatedAlways('projects'),
    readme: relatedNone(),
    'remote-state-consumers': relatedLink(),
    'ssh-key': relatedOne('ssh-keys'),
    'tag-bindings': relatedIfIncluded('tag-bindings'),
    vars: relatedMany('vars'),
  },
  links: {
    self: serverPath('/api/v2/organizations/acme/workspaces/network'),
    'self-html': serverPath('/app/acme/workspaces/network'),
  },
});
