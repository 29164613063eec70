import type { z } from 'zod';
import * as agentPools from '../../libs/organizations/agents/agent-pools/agent-pools.controller.js';
import * as agents from '../../libs/organizations/agents/agents/agents.controller.js';
import * as auditConfiguration from '../../libs/activity/audit-trail/settings/audit-configurations.controller.js';
import * as auditTrailSettings from '../../libs/activity/audit-trail/settings/audit-trail-settings.controller.js';
import * as auditFactSources from '../../libs/activity/facts/sources/audit-fact-sources.controller.js';
import * as identityProviders from '../../libs/identity/identity-providers/providers/identity-providers.controller.js';
import * as adminOrganizations from '../../libs/organizations/organizations/administration/admin-organizations.controller.js';
import * as generalSettings from '../../libs/organizations/general-settings/general-settings.body.js';
import * as ipAllowlists from '../../libs/organizations/ip-allowlists/ip-allowlists.body.js';
import * as organizations from '../../libs/organizations/organizations/organizations/organizations.controller.js';
import * as projects from '../../libs/organizations/organizations/projects/projects.controller.js';
import * as tokenTtlPolicies from '../../libs/organizations/organizations/token-ttl-policies/token-ttl-policies.body.js';
import * as subscriptions from '../../libs/organizations/organizations/entitlements/subscriptions.controller.js';
import * as tokens from '../../libs/identity/people/authentication-tokens/authentication-tokens.body.js';
import * as memberships from '../../libs/identity/people/memberships/organization-memberships.controller.js';
import * as teamProjects from '../../libs/identity/people/team-access/team-projects.controller.js';
import * as teamWorkspaces from '../../libs/identity/people/team-access/team-workspaces.controller.js';
import * as teams from '../../libs/identity/people/teams/teams.controller.js';
import * as users from '../../libs/identity/people/users/users.controller.js';
import * as gpgKeys from '../../libs/registry/registry/gpg-keys/gpg-keys.controller.js';
import * as platforms from '../../libs/registry/registry/platforms/registry-provider-platforms.controller.js';
import * as providerVersions from '../../libs/registry/registry/versions/registry-provider-versions.controller.js';
import * as moduleVersions from '../../libs/registry/modules/registry-module-versions.controller.js';
import * as registryModules from '../../libs/registry/modules/registry-modules.controller.js';
import * as providers from '../../libs/registry/registry/providers/registry-providers.controller.js';
import * as retention from '../../libs/operations/retention/data-retention-policy-delete-olders.controller.js';
import * as configurations from '../../libs/runs/runs/configuration-versions/configuration-versions.controller.js';
import * as commitPreviews from '../../libs/runs/commits/commit-previews.controller.js';
import * as runTriggers from '../../libs/runs/run-triggers/run-triggers.controller.js';
import * as runs from '../../libs/runs/runs/runs/runs.body.js';
import * as runIdentityTokens from '../../libs/runs/runs/identity-tokens/run-identity-tokens.controller.js';
import * as runJobs from '../../libs/runs/runs/jobs/run-jobs.controller.js';
import * as runLeases from '../../libs/runs/runs/run-leases/run-leases.controller.js';
import * as notifications from '../../libs/activity/notifications/configurations/notification-configurations.controller.js';
import * as recoverableItems from '../../libs/operations/recovery/recoverable-items.controller.js';
import * as savedViews from '../../libs/organizations/saved-views/saved-views.controller.js';
import * as oauthClients from '../../libs/vcs/connections/oauth-clients.controller.js';
import * as oauthTokens from '../../libs/vcs/connections/oauth-tokens.controller.js';
import * as policies from '../../libs/runs/policies/policies.controller.js';
import * as policySets from '../../libs/runs/policies/policy-sets.controller.js';
import * as runTasks from '../../libs/runs/run-tasks/tasks.controller.js';
import { taskReportBody } from '../../libs/runs/runs/task-results/task-report.body.js';
import * as workspaceTasks from '../../libs/runs/run-tasks/workspace-tasks.controller.js';
import * as sshKeys from '../../libs/organizations/ssh-keys/ssh-keys.controller.js';
import * as stateVersions from '../../libs/workspaces/state/state-versions/state-versions.body.js';
import * as reservedTagKeys from '../../libs/workspaces/tags/reserved-tag-keys/reserved-tag-keys.controller.js';
import * as tags from '../../libs/organizations/tag-bindings/tags.body.js';
import * as flatTags from '../../libs/workspaces/tags/flat-tags/tags.controller.js';
import * as variableSets from '../../libs/workspaces/variables/variable-sets/variable-sets.body.js';
import * as variables from '../../libs/workspaces/variables/variables/variables.body.js';
import * as toolVersions from '../../libs/workspaces/workspaces/tool-versions/tool-versions.body.js';
import * as consumers from '../../libs/workspaces/workspaces/remote-state-consumers/remote-state-consumers.controller.js';
import * as workloadIdentities from '../../libs/identity/workload-identities/identities/workload-identities.controller.js';
import * as workspaces from '../../libs/workspaces/workspaces/workspaces/workspaces.body.js';

/** Sources of members that are not in a request of go-tfe. */
export const DOCUMENTATION_SOURCES = {
  cadastre: 'Cadastre',
  clients: 'requests of other clients',
  docs: 'HCP Terraform’s API documentation',
  'go-tfe v2': 'go-tfe v2.4.0',
  pytfe: 'pytfe 1.5.0',
} as const;

type DocumentationSource = keyof typeof DOCUMENTATION_SOURCES;

/** A body of the API and the go-tfe requests that send it. */
export type RequestBody = {
  readonly name: string;
  readonly routes: readonly string[];
  readonly body: z.ZodType;
  /** Type names of go-tfe's requests to these routes. */
  readonly goTfe?: readonly string[];
};

export type DocumentedResource = {
  readonly requests: readonly RequestBody[];
  /** Sources of members that no request of go-tfe has. Relationships begin with `relationships.`. */
  readonly also?: Readonly<Record<string, DocumentationSource>>;
};

const ORGANIZATION = '/api/v2/organizations/:organization';
const PROVIDERS = `${ORGANIZATION}/registry-providers`;
const MODULES = `${ORGANIZATION}/registry-modules`;
const MODULE = `${MODULES}/:registryName/:namespace/:name/:provider`;
const VERSIONS = `${PROVIDERS}/:registryName/:namespace/:name/versions`;

/** Every body that a route parses, by resource. */
export const RESOURCES: Readonly<Record<string, DocumentedResource>> = {
  'agent-pools': {
    requests: [
      {
        name: 'create',
        routes: [`POST ${ORGANIZATION}/agent-pools`, 'POST /api/v2/admin/agent-pools'],
        body: agentPools.createBody,
        goTfe: ['AgentPoolCreateOptions'],
      },
      {
        name: 'update',
        routes: ['PATCH /api/v2/agent-pools/:id'],
        body: agentPools.updateBody,
        goTfe: [
          'AgentPoolUpdateOptions',
          'AgentPoolAllowedProjectsUpdateOptions',
          'AgentPoolAllowedWorkspacesUpdateOptions',
          'AgentPoolExcludedWorkspacesUpdateOptions',
        ],
      },
    ],
    also: { 'remote-runs-enabled': 'cadastre' },
  },
  agents: {
    requests: [
      { name: 'register', routes: ['POST /api/v2/agent-pools/:pool/agents'], body: agents.registerBody },
      { name: 'register in the pool of the token', routes: ['POST /api/v2/agents'], body: agents.executorBody },
      { name: 'ping', routes: ['POST /api/v2/agents/:id/actions/ping'], body: agents.pingBody },
      { name: 'claim', routes: ['POST /api/v2/agents/:id/actions/claim'], body: runLeases.claimBody },
    ],
    also: {
      capacity: 'cadastre',
      name: 'cadastre',
      phases: 'cadastre',
      'protocol-version': 'cadastre',
      status: 'cadastre',
      version: 'cadastre',
      'wait-seconds': 'cadastre',
    },
  },
  'audit-configurations': {
    requests: [
      {
        name: 'update',
        routes: [`PATCH ${ORGANIZATION}/audit-configuration`],
        body: auditConfiguration.updateBody,
        goTfe: ['OrganizationAuditConfigurationOptions'],
      },
    ],
  },
  'audit-fact-sources': {
    requests: [
      { name: 'create', routes: [`POST ${ORGANIZATION}/audit-fact-sources`], body: auditFactSources.createBody },
    ],
    also: { description: 'cadastre', source: 'cadastre' },
  },
  'audit-trail-settings': {
    requests: [
      { name: 'update', routes: [`PATCH ${ORGANIZATION}/audit-trail-settings`], body: auditTrailSettings.body },
    ],
    also: { 'retention-days': 'cadastre' },
  },
  'authentication-tokens': {
    requests: [
      {
        name: 'of a user',
        routes: ['POST /api/v2/users/:id/authentication-tokens'],
        body: tokens.userBody,
        goTfe: ['UserTokenCreateOptions'],
      },
      {
        name: 'of an organization',
        routes: [`POST ${ORGANIZATION}/authentication-token`],
        body: tokens.body,
        goTfe: ['OrganizationTokenCreateOptions'],
      },
      {
        name: 'legacy, of a team',
        routes: ['POST /api/v2/teams/:id/authentication-token'],
        body: tokens.onlyTokenBody,
        goTfe: ['TeamTokenCreateOptions'],
      },
      {
        name: 'of a team',
        routes: ['POST /api/v2/teams/:id/authentication-tokens'],
        body: tokens.teamBody,
        goTfe: ['TeamTokenCreateOptions'],
      },
      {
        name: 'of an agent pool',
        routes: [
          'POST /api/v2/agent-pools/:id/authentication-tokens',
          'POST /api/v2/admin/scim-tokens',
          'POST /api/v2/admin/identity-providers/:id/scim-tokens',
        ],
        body: tokens.agentBody,
        goTfe: ['AgentTokenCreateOptions'],
      },
    ],
    also: { access: 'cadastre', 'relationships.organization': 'cadastre' },
  },
  comments: {
    requests: [
      {
        name: 'create',
        routes: ['POST /api/v2/runs/:id/comments'],
        body: runs.commentBody,
        goTfe: ['CommentCreateOptions'],
      },
    ],
  },
  'configuration-versions': {
    requests: [
      {
        name: 'create',
        routes: ['POST /api/v2/workspaces/:id/configuration-versions'],
        body: configurations.createBody,
        goTfe: ['ConfigurationVersionCreateOptions'],
      },
    ],
  },
  'data-retention-policies': {
    requests: [
      {
        name: 'set',
        routes: ['POST', 'PATCH'].flatMap((method) => [
          `${method} /api/v2/workspaces/:id/relationships/data-retention-policy`,
          `${method} ${ORGANIZATION}/relationships/data-retention-policy`,
        ]),
        body: retention.policyBody,
        goTfe: [
          'DataRetentionPolicySetOptions',
          'DataRetentionPolicyDeleteOlderSetOptions',
          'DataRetentionPolicyDontDeleteSetOptions',
        ],
      },
    ],
    also: { deleteOlderThanNDays: 'clients' },
  },
  'general-settings': {
    requests: [
      {
        name: 'update',
        routes: ['PATCH /api/v2/admin/general-settings'],
        body: generalSettings.generalSettingsBody,
        goTfe: ['AdminGeneralSettingsUpdateOptions'],
      },
    ],
    also: {
      'default-organizations-per-user-ceiling': 'docs',
      'default-workspaces-per-organization-ceiling': 'docs',
      'fair-run-queuing-enabled': 'docs',
      'limit-organizations-per-user': 'docs',
      'limit-workspaces-per-organization': 'docs',
      'require-two-factor-for-admins': 'docs',
      'terraform-build-worker-apply-timeout': 'docs',
      'terraform-build-worker-plan-timeout': 'docs',
    },
  },
  'gpg-keys': {
    requests: [
      {
        name: 'create',
        routes: ['POST /api/registry/private/v2/gpg-keys'],
        body: gpgKeys.createBody,
        goTfe: ['GPGKeyCreateOptions'],
      },
      {
        name: 'update',
        routes: ['PATCH /api/registry/private/v2/gpg-keys/:namespace/:keyId'],
        body: gpgKeys.updateBody,
        goTfe: ['GPGKeyUpdateOptions'],
      },
    ],
  },
  'identity-providers': {
    requests: [
      { name: 'create', routes: ['POST /api/v2/admin/identity-providers'], body: identityProviders.createBody },
      { name: 'update', routes: ['PATCH /api/v2/admin/identity-providers/:id'], body: identityProviders.updateBody },
    ],
    also: {
      'allowed-domains': 'cadastre',
      'allowed-groups': 'cadastre',
      certificates: 'cadastre',
      'client-id': 'cadastre',
      'client-secret': 'cadastre',
      'creates-users': 'cadastre',
      enabled: 'cadastre',
      'external-id-claim': 'cadastre',
      'groups-claim': 'cadastre',
      issuer: 'cadastre',
      'mapped-groups': 'cadastre',
      'maps-groups': 'cadastre',
      name: 'cadastre',
      'proves-two-factor': 'cadastre',
      scopes: 'cadastre',
      'username-claim': 'cadastre',
      metadata: 'cadastre',
      'metadata-url': 'cadastre',
      protocol: 'cadastre',
      'proves-emails': 'cadastre',
      'sign-in-url': 'cadastre',
      'sign-out-url': 'cadastre',
    },
  },
  'organization-memberships': {
    requests: [
      {
        name: 'create',
        routes: [`POST ${ORGANIZATION}/organization-memberships`],
        body: memberships.invitationBody,
        goTfe: ['OrganizationMembershipCreateOptions'],
      },
    ],
  },
  'organization-token-ttl-policies': {
    requests: [
      {
        name: 'update',
        routes: [`PATCH ${ORGANIZATION}/token-ttl-policies`],
        body: tokenTtlPolicies.policiesBody,
        goTfe: ['OrganizationTokenTTLPolicyUpdateOptions'],
      },
    ],
  },
  organizations: {
    requests: [
      {
        name: 'create',
        routes: ['POST /api/v2/organizations'],
        body: organizations.createBody,
        goTfe: ['OrganizationCreateOptions'],
      },
      {
        name: 'update',
        routes: [`PATCH ${ORGANIZATION}`],
        body: organizations.updateBody,
        goTfe: ['OrganizationUpdateOptions'],
      },
      {
        name: 'update as site administrator',
        routes: ['PATCH /api/v2/admin/organizations/:organization'],
        body: adminOrganizations.adminUpdateBody,
        goTfe: ['AdminOrganizationUpdateOptions'],
      },
      {
        name: 'module consumers',
        routes: ['PATCH /api/v2/admin/organizations/:organization/relationships/module-consumers'],
        body: adminOrganizations.moduleConsumersBody,
      },
    ],
    also: {
      'commit-statuses-enabled': 'cadastre',
      'data-retention-policy': 'pytfe',
      'data-retention-policy-choice': 'pytfe',
      'default-agent-pool': 'pytfe',
      'default-agent-pool-id': 'docs',
      'default-project': 'pytfe',
      'external-id': 'pytfe',
      'is-unified': 'pytfe',
      permissions: 'pytfe',
      'public-provider-curation-enabled': 'cadastre',
      'pull-request-comments-enabled': 'cadastre',
      'recoverable-items-enabled': 'go-tfe v2',
      'remaining-testable-count': 'pytfe',
      'saml-enabled': 'pytfe',
      'site-executors-enabled': 'cadastre',
      'stacks-default-execution-mode': 'go-tfe v2',
      'two-factor-conformant': 'pytfe',
      'relationships.stacks-default-agent-pool': 'go-tfe v2',
    },
  },
  projects: {
    requests: [
      {
        name: 'create',
        routes: [`POST ${ORGANIZATION}/projects`],
        body: projects.createBody,
        goTfe: ['ProjectCreateOptions'],
      },
      {
        name: 'update',
        routes: ['PATCH /api/v2/projects/:id'],
        body: projects.updateBody,
        goTfe: ['ProjectUpdateOptions'],
      },
      {
        name: 'add workspaces',
        routes: ['POST /api/v2/projects/:project/relationships/workspaces'],
        body: workspaces.movedBody,
      },
    ],
    also: {
      'setting-overwrites.agent-pool': 'clients',
      'setting-overwrites.execution-mode': 'clients',
      'setting-overwrites.stacks-default-agent-pool': 'go-tfe v2',
      'setting-overwrites.stacks-default-execution-mode': 'go-tfe v2',
      'stacks-default-execution-mode': 'go-tfe v2',
      'relationships.default-agent-pool': 'go-tfe v2',
      'relationships.stacks-default-agent-pool': 'go-tfe v2',
    },
  },
  'registry-module-versions': {
    requests: [
      {
        name: 'create',
        routes: [`POST ${MODULE}/versions`, 'POST /api/v2/registry-modules/:organization/:name/:provider/versions'],
        body: moduleVersions.createBody,
        goTfe: ['RegistryModuleCreateVersionOptions'],
      },
    ],
  },
  'registry-modules': {
    requests: [
      {
        name: 'create',
        routes: [`POST ${MODULES}`],
        body: registryModules.createBody,
        goTfe: ['RegistryModuleCreateOptions'],
      },
      {
        name: 'update',
        routes: [`PATCH ${MODULE}`],
        body: registryModules.updateBody,
        goTfe: ['RegistryModuleUpdateOptions'],
      },
    ],
  },
  'registry-provider-platforms': {
    requests: [
      {
        name: 'create',
        routes: [`POST ${VERSIONS}/:version/platforms`],
        body: platforms.createBody,
        goTfe: ['RegistryProviderPlatformCreateOptions'],
      },
    ],
  },
  'registry-provider-versions': {
    requests: [
      {
        name: 'create',
        routes: [`POST ${VERSIONS}`],
        body: providerVersions.createBody,
        goTfe: ['RegistryProviderVersionCreateOptions'],
      },
    ],
  },
  'registry-providers': {
    requests: [
      {
        name: 'create',
        routes: [`POST ${PROVIDERS}`],
        body: providers.createBody,
        goTfe: ['RegistryProviderCreateOptions'],
      },
      {
        name: 'update',
        routes: [`PATCH ${PROVIDERS}/:registryName/:namespace/:name`],
        body: providers.updateBody,
        goTfe: ['RegistryProviderUpdateOptions'],
      },
    ],
  },
  'reserved-tag-keys': {
    requests: [
      {
        name: 'create',
        routes: [`POST ${ORGANIZATION}/reserved-tag-keys`],
        body: reservedTagKeys.createBody,
        goTfe: ['ReservedTagKeyCreateOptions'],
      },
      {
        name: 'update',
        routes: ['PATCH /api/v2/reserved-tags/:id', 'PATCH /api/v2/reserved-tag-keys/:id'],
        body: reservedTagKeys.updateBody,
        goTfe: ['ReservedTagKeyUpdateOptions'],
      },
      {
        name: 'preview',
        routes: [`POST ${ORGANIZATION}/reserved-tag-keys/actions/preview`],
        body: reservedTagKeys.previewBody,
      },
    ],
  },
  'run-identity-tokens': {
    requests: [
      {
        name: 'issue',
        routes: ['POST /api/v2/runs/:id/identity-tokens'],
        body: runIdentityTokens.identityTokenBody,
      },
    ],
    also: { audience: 'cadastre', fence: 'cadastre' },
  },
  'run-jobs': {
    requests: [{ name: 'read', routes: ['POST /api/v2/runs/:id/job'], body: runJobs.jobBody }],
    also: { fence: 'cadastre', nonce: 'cadastre' },
  },
  'run-leases': {
    requests: [{ name: 'renew', routes: ['POST /api/v2/runs/:id/actions/renew-lease'], body: runLeases.renewalBody }],
    also: { fence: 'cadastre', 'wait-seconds': 'cadastre' },
  },
  'commit-previews': {
    requests: [
      { name: 'create', routes: ['POST /api/v2/workspaces/:id/commit-previews'], body: commitPreviews.previewBody },
    ],
    also: {
      'file-triggers-enabled': 'cadastre',
      'queue-all-runs': 'cadastre',
      'trigger-patterns': 'cadastre',
      'trigger-prefixes': 'cadastre',
      'vcs-repo': 'cadastre',
      'vcs-repo.branch': 'cadastre',
      'vcs-repo.github-app-installation-id': 'cadastre',
      'vcs-repo.identifier': 'cadastre',
      'vcs-repo.ingress-submodules': 'cadastre',
      'vcs-repo.oauth-token-id': 'cadastre',
      'vcs-repo.tags-regex': 'cadastre',
      'vcs-repo.vcs-app-installation-id': 'cadastre',
      'working-directory': 'cadastre',
    },
  },
  'run-triggers': {
    requests: [
      {
        name: 'create',
        routes: ['POST /api/v2/workspaces/:id/run-triggers'],
        body: runTriggers.createBody,
        goTfe: ['RunTriggerCreateOptions'],
      },
    ],
  },
  runs: {
    requests: [
      { name: 'create', routes: ['POST /api/v2/runs'], body: runs.createBody, goTfe: ['RunCreateOptions'] },
      {
        name: 'actions',
        routes: [
          ...['apply', 'discard', 'cancel', 'force-cancel', 'force-execute'].map(
            (action) => `POST /api/v2/runs/:id/actions/${action}`,
          ),
          'POST /api/v2/admin/runs/:id/actions/force-cancel',
          'POST /api/v2/task-stages/:id/actions/override',
        ],
        body: runs.actionBody,
        goTfe: [
          'RunApplyOptions',
          'RunDiscardOptions',
          'RunCancelOptions',
          'RunForceCancelOptions',
          'AdminRunForceCancelOptions',
          'TaskStageOverrideOptions',
        ],
      },
      { name: 'progress', routes: ['POST /api/v2/runs/:id/progress'], body: runs.progressBody },
    ],
    also: {
      'debugging-mode': 'docs',
      fence: 'cadastre',
      'has-changes': 'cadastre',
      'policy-results': 'cadastre',
      'resource-additions': 'cadastre',
      'resource-changes': 'cadastre',
      'resource-destructions': 'cadastre',
      'resource-imports': 'cadastre',
      'resources-drifted': 'cadastre',
      'resources-undrifted': 'cadastre',
      'checks-passed': 'cadastre',
      'checks-failed': 'cadastre',
      'checks-errored': 'cadastre',
      'checks-unknown': 'cadastre',
      'generated-configuration': 'cadastre',
      status: 'cadastre',
    },
  },
  'notification-configurations': {
    requests: [
      {
        name: 'create',
        routes: [
          'POST /api/v2/workspaces/:id/notification-configurations',
          'POST /api/v2/teams/:id/notification-configurations',
          `POST ${ORGANIZATION}/notification-configurations`,
        ],
        body: notifications.createBody,
        goTfe: ['NotificationConfigurationCreateOptions'],
      },
      {
        name: 'update',
        routes: ['PATCH /api/v2/notification-configurations/:id'],
        body: notifications.updateBody,
        goTfe: ['NotificationConfigurationUpdateOptions'],
      },
    ],
  },
  'cidr-range-lists': {
    requests: [
      { name: 'create', routes: [`POST ${ORGANIZATION}/cidr-range-lists`], body: ipAllowlists.createBody },
      { name: 'update', routes: ['PATCH /api/v2/cidr-range-lists/:id'], body: ipAllowlists.updateBody },
      {
        name: 'agent pools',
        routes: [
          'POST /api/v2/cidr-range-lists/:id/relationships/agent-pools',
          'DELETE /api/v2/cidr-range-lists/:id/relationships/agent-pools',
        ],
        body: ipAllowlists.agentPoolsBody,
      },
    ],
    also: {
      name: 'go-tfe v2',
      description: 'go-tfe v2',
      'enforcement-scope': 'go-tfe v2',
      'relationships.cidr-ranges': 'go-tfe v2',
      ranges: 'cadastre',
      'relationships.agent-pools': 'cadastre',
    },
  },
  'cidr-ranges': {
    requests: [
      {
        name: 'create',
        routes: ['POST /api/v2/cidr-range-lists/:id/relationships/cidr-ranges'],
        body: ipAllowlists.createRangeBody,
      },
      { name: 'update', routes: ['PATCH /api/v2/cidr-ranges/:id'], body: ipAllowlists.updateRangeBody },
    ],
    also: { range: 'go-tfe v2', description: 'go-tfe v2', enabled: 'go-tfe v2' },
  },
  'recoverable-items': {
    requests: [
      {
        name: 'recover',
        routes: ['POST /api/v2/recoverable-items/:id/actions/recover'],
        body: recoverableItems.recoverBody,
      },
    ],
    also: { name: 'cadastre' },
  },
  'saved-views': {
    requests: [
      { name: 'create', routes: [`POST ${ORGANIZATION}/saved-views`], body: savedViews.createBody },
      { name: 'update', routes: ['PATCH /api/v2/saved-views/:id'], body: savedViews.updateBody },
    ],
    also: { name: 'cadastre', query: 'cadastre', shared: 'cadastre' },
  },
  policies: {
    requests: [
      {
        name: 'create',
        routes: [`POST ${ORGANIZATION}/policies`],
        body: policies.createPolicyBody,
        goTfe: ['PolicyCreateOptions'],
      },
      {
        name: 'update',
        routes: ['PATCH /api/v2/policies/:id'],
        body: policies.updatePolicyBody,
        goTfe: ['PolicyUpdateOptions'],
      },
    ],
    also: { 'relationships.policy-sets': 'docs' },
  },
  'policy-sets': {
    requests: [
      {
        name: 'create',
        routes: [`POST ${ORGANIZATION}/policy-sets`],
        body: policySets.createPolicySetBody,
        goTfe: ['PolicySetCreateOptions'],
      },
      {
        name: 'update',
        routes: ['PATCH /api/v2/policy-sets/:id'],
        body: policySets.updatePolicySetBody,
        goTfe: ['PolicySetUpdateOptions'],
      },
      {
        name: 'attach or detach',
        routes: ['POST', 'DELETE'].map((method) => `${method} /api/v2/policy-sets/:id/relationships/:relation`),
        body: policySets.policySetMembersBody,
      },
    ],
  },
  tasks: {
    requests: [
      {
        name: 'create',
        routes: [`POST ${ORGANIZATION}/tasks`],
        body: runTasks.createRunTaskBody,
        goTfe: ['RunTaskCreateOptions'],
      },
      {
        name: 'update',
        routes: ['PATCH /api/v2/tasks/:id'],
        body: runTasks.updateRunTaskBody,
        goTfe: ['RunTaskUpdateOptions'],
      },
    ],
  },
  'task-results': {
    requests: [
      {
        name: 'callback',
        // Listed in OTHER_BODIES.
        routes: [],
        body: taskReportBody,
        goTfe: ['TaskResultCallbackRequestOptions'],
      },
    ],
  },
  'workspace-tasks': {
    requests: [
      {
        name: 'create',
        routes: ['POST /api/v2/workspaces/:workspace/tasks'],
        body: workspaceTasks.createWorkspaceTaskBody,
        goTfe: ['WorkspaceRunTaskCreateOptions'],
      },
      {
        name: 'update',
        routes: ['PATCH /api/v2/workspaces/:workspace/tasks/:id'],
        body: workspaceTasks.updateWorkspaceTaskBody,
        goTfe: ['WorkspaceRunTaskUpdateOptions'],
      },
    ],
  },
  'oauth-clients': {
    requests: [
      {
        name: 'create',
        routes: [`POST ${ORGANIZATION}/oauth-clients`],
        body: oauthClients.createBody,
        goTfe: ['OAuthClientCreateOptions'],
      },
      {
        name: 'update',
        routes: ['PATCH /api/v2/oauth-clients/:id'],
        body: oauthClients.updateBody,
        goTfe: ['OAuthClientUpdateOptions'],
      },
      {
        name: 'projects',
        routes: [
          'POST /api/v2/oauth-clients/:id/relationships/projects',
          'DELETE /api/v2/oauth-clients/:id/relationships/projects',
        ],
        body: oauthClients.projectsBody,
      },
    ],
  },
  'oauth-tokens': {
    requests: [
      {
        name: 'update',
        routes: ['PATCH /api/v2/oauth-tokens/:id'],
        body: oauthTokens.updateTokenBody,
        goTfe: ['OAuthTokenUpdateOptions'],
      },
    ],
  },
  'ssh-keys': {
    requests: [
      {
        name: 'create',
        routes: [`POST ${ORGANIZATION}/ssh-keys`],
        body: sshKeys.createBody,
        goTfe: ['SSHKeyCreateOptions'],
      },
      {
        name: 'update',
        routes: ['PATCH /api/v2/ssh-keys/:id'],
        body: sshKeys.updateBody,
        goTfe: ['SSHKeyUpdateOptions'],
      },
    ],
  },
  'state-versions': {
    requests: [
      {
        name: 'create',
        routes: ['POST /api/v2/workspaces/:id/state-versions'],
        body: stateVersions.createBody,
        goTfe: ['StateVersionCreateOptions'],
      },
      {
        name: 'roll back',
        routes: ['PATCH /api/v2/workspaces/:id/state-versions'],
        body: stateVersions.rollbackBody,
      },
    ],
    also: { 'terraform-version': 'pytfe', 'relationships.rollback-state-version': 'docs' },
  },
  subscriptions: {
    requests: [
      {
        name: 'change',
        routes: ['POST /api/v2/admin/organizations/:organization/subscription'],
        body: subscriptions.body,
      },
    ],
    also: {
      ...Object.fromEntries(subscriptions.OF_PLANS.map((name) => [name, 'go-tfe v2' as const])),
      'relationships.feature-set': 'clients',
    },
  },
  'tag-bindings': {
    requests: [
      {
        name: 'add or replace',
        routes: ['workspaces', 'projects'].flatMap((owners) => [
          `PATCH /api/v2/${owners}/:id/tag-bindings`,
          `POST /api/v2/${owners}/:id/relationships/tag-bindings`,
          `PATCH /api/v2/${owners}/:id/relationships/tag-bindings`,
          `DELETE /api/v2/${owners}/:id/relationships/tag-bindings`,
        ]),
        body: tags.tagBindingsBody,
      },
    ],
    also: { key: 'docs', value: 'docs' },
  },
  'opa-versions': {
    requests: [
      {
        name: 'create',
        routes: ['POST /api/v2/admin/opa-versions'],
        body: toolVersions.opaVersionBodies.create,
        goTfe: ['AdminOPAVersionCreateOptions'],
      },
      {
        name: 'update',
        routes: ['PATCH /api/v2/admin/opa-versions/:id'],
        body: toolVersions.opaVersionBodies.update,
        goTfe: ['AdminOPAVersionUpdateOptions'],
      },
    ],
  },
  'terraform-versions': {
    requests: [
      {
        name: 'create',
        routes: ['POST /api/v2/admin/terraform-versions'],
        body: toolVersions.terraformVersionBodies.create,
        goTfe: ['AdminTerraformVersionCreateOptions'],
      },
      {
        name: 'update',
        routes: ['PATCH /api/v2/admin/terraform-versions/:id'],
        body: toolVersions.terraformVersionBodies.update,
        goTfe: ['AdminTerraformVersionUpdateOptions'],
      },
    ],
  },
  tags: {
    requests: [
      {
        name: 'add to or remove from a workspace',
        routes: ['POST', 'DELETE'].map((method) => `${method} /api/v2/workspaces/:id/relationships/tags`),
        body: tags.flatTagsInput,
      },
      { name: 'delete', routes: [`DELETE ${ORGANIZATION}/tags`], body: flatTags.tagsBody },
      {
        name: 'add workspaces',
        routes: ['POST /api/v2/tags/:id/relationships/workspaces'],
        body: flatTags.workspacesBody,
      },
    ],
    also: { name: 'docs' },
  },
  'team-projects': {
    requests: [
      {
        name: 'create',
        routes: ['POST /api/v2/team-projects'],
        body: teamProjects.createBody,
        goTfe: ['TeamProjectAccessAddOptions'],
      },
      {
        name: 'update',
        routes: ['PATCH /api/v2/team-projects/:id'],
        body: teamProjects.updateBody,
        goTfe: ['TeamProjectAccessUpdateOptions'],
      },
    ],
  },
  'team-workspaces': {
    requests: [
      {
        name: 'create',
        routes: ['POST /api/v2/team-workspaces'],
        body: teamWorkspaces.createBody,
        goTfe: ['TeamAccessAddOptions'],
      },
      {
        name: 'update',
        routes: ['PATCH /api/v2/team-workspaces/:id'],
        body: teamWorkspaces.updateBody,
        goTfe: ['TeamAccessUpdateOptions'],
      },
    ],
  },
  teams: {
    requests: [
      {
        name: 'create',
        routes: [`POST ${ORGANIZATION}/teams`],
        body: teams.createBody,
        goTfe: ['TeamCreateOptions'],
      },
      { name: 'update', routes: ['PATCH /api/v2/teams/:id'], body: teams.updateBody, goTfe: ['TeamUpdateOptions'] },
      ...(['users', 'organization-memberships'] as const).map((by) => ({
        name: `members by ${by}`,
        routes: ['POST', 'DELETE'].map((method) => `${method} /api/v2/teams/:id/relationships/${by}`),
        body: teams.memberBodies[by],
      })),
    ],
    also: {
      description: 'go-tfe v2',
      'organization-access.manage-public-modules': 'go-tfe v2',
      'organization-access.manage-public-providers': 'go-tfe v2',
      'organization-access.manage-registry-artifact-tags': 'go-tfe v2',
      'organization-access.manage-registry-artifact-version-tags': 'go-tfe v2',
      'organization-access.manage-registry-components': 'go-tfe v2',
    },
  },
  users: {
    requests: [
      {
        name: 'update',
        routes: ['PATCH /api/v2/account/update', 'PATCH /api/v2/account/details'],
        body: users.updateBody,
        goTfe: ['UserUpdateOptions'],
      },
    ],
    also: { password: 'go-tfe v2', 'unconfirmed-email': 'cadastre' },
  },
  vars: {
    requests: [
      {
        name: 'create',
        routes: ['POST /api/v2/workspaces/:id/vars', 'POST /api/v2/varsets/:id/relationships/vars'],
        body: variables.createBody,
        goTfe: ['VariableCreateOptions', 'VariableSetVariableCreateOptions'],
      },
      { name: 'create by name', routes: ['POST /api/v2/vars'], body: variables.createAnywhereBody },
      {
        name: 'update',
        routes: [
          'PATCH /api/v2/workspaces/:id/vars/:variable',
          'PATCH /api/v2/vars/:id',
          'PATCH /api/v2/varsets/:id/relationships/vars/:variable',
        ],
        body: variables.updateBody,
        goTfe: ['VariableUpdateOptions', 'VariableSetVariableUpdateOptions'],
      },
    ],
    also: {
      filter: 'docs',
      'filter.organization': 'docs',
      'filter.organization.name': 'docs',
      'filter.workspace': 'docs',
      'filter.workspace.name': 'docs',
      'relationships.workspace': 'docs',
    },
  },
  varsets: {
    requests: [
      {
        name: 'create',
        routes: [`POST ${ORGANIZATION}/varsets`],
        body: variableSets.createBody,
        goTfe: ['VariableSetCreateOptions'],
      },
      {
        name: 'update',
        routes: ['PATCH /api/v2/varsets/:id', 'PUT /api/v2/varsets/:id'],
        body: variableSets.updateBody,
        goTfe: ['VariableSetUpdateOptions', 'VariableSetUpdateWorkspacesOptions', 'VariableSetUpdateStacksOptions'],
      },
      ...(['workspaces', 'projects'] as const).map((kind) => ({
        name: `apply to or withdraw from ${kind}`,
        routes: ['POST', 'DELETE'].map((method) => `${method} /api/v2/varsets/:id/relationships/${kind}`),
        body: variableSets.targetBodies[kind],
      })),
    ],
    also: { 'relationships.projects': 'docs', 'relationships.vars': 'docs' },
  },
  'workload-identities': {
    requests: [
      {
        name: 'create',
        routes: ['POST /api/v2/teams/:id/workload-identities'],
        body: workloadIdentities.createBody,
      },
      { name: 'update', routes: ['PATCH /api/v2/workload-identities/:id'], body: workloadIdentities.updateBody },
    ],
    also: {
      audience: 'cadastre',
      claims: 'cadastre',
      description: 'cadastre',
      enabled: 'cadastre',
      issuer: 'cadastre',
      name: 'cadastre',
      'token-minutes': 'cadastre',
    },
  },
  workspaces: {
    requests: [
      {
        name: 'create',
        routes: [`POST ${ORGANIZATION}/workspaces`],
        body: workspaces.createBody,
        goTfe: ['WorkspaceCreateOptions'],
      },
      {
        name: 'update',
        routes: ['PATCH /api/v2/workspaces/:id', `PATCH ${ORGANIZATION}/workspaces/:name`],
        body: workspaces.updateBody,
        goTfe: ['WorkspaceUpdateOptions', 'workspaceRemoveVCSConnectionOptions'],
      },
      {
        name: 'lock',
        routes: ['POST /api/v2/workspaces/:id/actions/lock'],
        body: workspaces.lockBody,
        goTfe: ['WorkspaceLockOptions'],
      },
      {
        name: 'renew lock',
        routes: ['POST /api/v2/workspaces/:id/actions/renew-lock'],
        body: workspaces.lockRenewalBody,
      },
      {
        name: 'SSH key',
        routes: ['PATCH /api/v2/workspaces/:id/relationships/ssh-key'],
        body: workspaces.sshKeyBody,
        goTfe: ['WorkspaceAssignSSHKeyOptions', 'workspaceUnassignSSHKeyOptions'],
      },
      {
        name: 'consumers',
        routes: ['POST', 'PATCH', 'DELETE'].map(
          (method) => `${method} /api/v2/workspaces/:id/relationships/remote-state-consumers`,
        ),
        body: consumers.body,
      },
    ],
    also: {
      'expires-in': 'cadastre',
      'iac-version': 'clients',
      'vcs-repo.vcs-app-installation-id': 'clients',
      'relationships.agent-pool': 'go-tfe v2',
      'relationships.remote-state-consumers': 'go-tfe v2',
      'relationships.ssh-key': 'go-tfe v2',
    },
  },
};

/** Routes whose bodies are files, forms of OAuth, resources of SCIM, or facts with schemas of their own (docs/reference/facts.md). */
export const OTHER_BODIES: readonly string[] = [
  `POST ${ORGANIZATION}/audit-facts`,
  'POST /api/v2/webhooks/vcs/:id',
  // The access token is checked before the body is read.
  'PATCH /api/v2/task-results/:id/callback',
  'POST /oauth/back-channel-logout/:provider',
  'POST /sign-in/saml/:provider/acs',
  'POST /oauth/token',
  'POST /oauth/revoke',
  'PUT /api/registry/private/v2/modules/object/:token',
  'PUT /api/registry/private/v2/uploads/:token',
  'PUT /api/v2/applies/:id/errored-state',
  'PUT /api/v2/applies/:id/log',
  'PUT /api/v2/configuration-versions/upload/:token',
  'PUT /api/v2/plans/:id/json-output',
  'PUT /api/v2/plans/:id/json-schema',
  'PUT /api/v2/plans/:id/log',
  'PUT /api/v2/plans/:id/plan-file',
  'PUT /api/v2/policies/:id/upload',
  'PUT /api/v2/state-versions/upload/:token',
  ...['Users', 'Groups'].flatMap((path) => [
    `POST /scim/v2/${path}`,
    `PUT /scim/v2/${path}/:id`,
    `PATCH /scim/v2/${path}/:id`,
  ]),
];

/** Requests of go-tfe that no route serves, by subject. They get 404. */
export const NOT_BUILT: Readonly<Record<string, readonly string[]>> = {
  'admin settings': [
    'AdminCostEstimationSettingOptions',
    'AdminCustomizationSettingsUpdateOptions',
    'AdminSAMLSettingsUpdateOptions',
    'AdminSCIMGroupMappingCreateOptions',
    'AdminSCIMGroupMappingUpdateOptions',
    'AdminSCIMSettingUpdateOptions',
    'AdminSCIMTokenCreateOptions',
    'AdminSMTPSettingsUpdateOptions',
    'AdminTwilioSettingsUpdateOptions',
    'AdminTwilioSettingsVerifyOptions',
  ],
  'changes of the versions of tools': ['AdminSentinelVersionCreateOptions', 'AdminSentinelVersionUpdateOptions'],
  'cloud credentials and encryption keys': [
    'AWSOIDCConfigurationCreateOptions',
    'AWSOIDCConfigurationUpdateOptions',
    'AzureOIDCConfigurationCreateOptions',
    'AzureOIDCConfigurationUpdateOptions',
    'GCPOIDCConfigurationCreateOptions',
    'GCPOIDCConfigurationUpdateOptions',
    'HYOKConfigurationsCreateOptions',
    'HYOKConfigurationsUpdateOptions',
    'VaultOIDCConfigurationCreateOptions',
    'VaultOIDCConfigurationUpdateOptions',
  ],
  modules: [
    'RegistryModuleCreateWithVCSConnectionOptions',
    'RegistryNoCodeModuleCreateOptions',
    'RegistryNoCodeModuleCreateWorkspaceOptions',
    'RegistryNoCodeModuleUpdateOptions',
    'RegistryNoCodeModuleUpgradeWorkspaceOptions',
    'TestRunCreateOptions',
  ],
  'plan exports': ['PlanExportCreateOptions'],
  'parameters of policies of Sentinel': ['PolicySetParameterCreateOptions', 'PolicySetParameterUpdateOptions'],
  'provider sets': ['ProviderSetCreateOptions'],
  queries: ['QueryRunCreateOptions'],
  stacks: [
    'CreateStackConfigurationOptions',
    'RegistryComponentCreateOptions',
    'RegistryComponentUpdateOptions',
    'StackCreateOptions',
    'StackUpdateOptions',
  ],
};
