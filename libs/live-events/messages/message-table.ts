import type { Permission } from '#access/rules';
import type { ChangeWord, IdSource, MessageRule, ScopeRule, SentRule } from './message-rules.js';

const STREAM: IdSource = 'stream';
const WORKSPACE: IdSource = { field: 'workspace' };
const FIRST_WORKSPACE: IdSource = { first: 'workspace' };

const onResource =
  (type: string, scope: ScopeRule, id: IdSource = STREAM) =>
  (word: ChangeWord): SentRule => ({ word, resource: { type, id }, scope });

const inOrganization = (type: string, permission: Permission) => onResource(type, { in: 'organization', permission });

const organization = onResource(
  'organizations',
  { in: 'organization', permission: 'read-organization' },
  'organization',
);
const limitsOfTokens = onResource(
  'organizations',
  { in: 'organization', permission: 'update-organization' },
  'organization',
);
const trailSettings = inOrganization('audit-trail-settings', 'manage-audit-trail');
const factSource = inOrganization('audit-fact-sources', 'manage-audit-trail');
const membership = inOrganization('organization-memberships', 'read-memberships');
const reservedTagKey = inOrganization('reserved-tag-keys', 'read-reserved-tag-keys');
const agentPool = inOrganization('agent-pools', 'read-agent-pools');
const agent = inOrganization('agents', 'read-agent-pools');
const sshKey = inOrganization('ssh-keys', 'read-ssh-keys');
const provider = inOrganization('registry-providers', 'read-providers');
const providerVersion = inOrganization('registry-provider-versions', 'read-providers');
const platform = onResource(
  'registry-provider-platforms',
  { in: 'organization', permission: 'read-providers' },
  { field: 'platform' },
);
const gpgKey = inOrganization('gpg-keys', 'read-providers');

const project = onResource('projects', { in: 'project', id: STREAM, permission: 'read-project' });

const inWorkspace: ScopeRule = { in: 'workspace', id: STREAM, permission: 'read-workspace' };
const workspace = onResource('workspaces', inWorkspace);
/** `project`: the field with the project of the workspace. */
const workspaceIn = (projectField: string, more: { readonly left?: IdSource } = {}) =>
  onResource('workspaces', { ...inWorkspace, project: { field: projectField }, ...more });

/** State versions in the stream of their workspace. Documents of workspaces show some of their attributes. */
const stateVersion = onResource(
  'state-versions',
  { in: 'workspace', id: STREAM, permission: 'read-state', changesWorkspace: true },
  { field: 'id' },
);
const stateFile = onResource('state-versions', { in: 'workspace', id: WORKSPACE, permission: 'read-state' });

const runIn = (id: IdSource) => onResource('runs', { in: 'workspace', id, permission: 'read-runs' });
const run = runIn(FIRST_WORKSPACE);
const configurationIn = (id: IdSource) =>
  onResource('configuration-versions', { in: 'workspace', id, permission: 'read-configuration-version' });
const configuration = configurationIn(FIRST_WORKSPACE);

const variableOf = (owner: IdSource) => onResource('vars', { in: 'variable', owner });
const variable = variableOf({ first: 'owner' });
const variableSetIn = (projectSource: IdSource) =>
  onResource('varsets', { in: 'variable-set', project: projectSource });
const variableSet = variableSetIn({ first: 'project' });
const policyOf = (target: IdSource) => onResource('data-retention-policies', { in: 'policy', target });
const policy = policyOf({ first: 'target' });

const team = onResource('teams', { in: 'team' });
const ownTeam = (word: ChangeWord): SentRule => ({ ...team(word), access: { team: STREAM } });
const teamMember: SentRule = { ...team('changed'), access: { user: { field: 'user' } } };

const teamAccess =
  (target: 'workspace' | 'project', teamSource: IdSource) =>
  (word: ChangeWord): SentRule => ({
    ...onResource(`team-${target}s`, { in: 'team-access', target, id: { field: target }, team: teamSource })(word),
    access: { team: teamSource },
  });
const FIRST_TEAM: IdSource = { first: 'team' };

const workloadIdentity = onResource('workload-identities', { in: 'team-tokens', team: { field: 'team' } });

const PERSON: MessageRule = { unsent: 'an event of a person, who belongs to the site' };
const CREDENTIAL: MessageRule = { unsent: 'an event of a token or of the ways in which a person signs in' };
const PROVIDER: MessageRule = { unsent: 'an event of an identity provider, which belongs to the site' };
const NOTIFICATION: MessageRule = { unsent: 'an event of a notification configuration, which few callers may read' };
const VIEW: MessageRule = {
  unsent: 'a private view is visible only to its person; lists of views are read when they are opened',
};
const READ: MessageRule = { unsent: 'a read, which changes nothing' };

const ofOrganizations = {
  OrganizationCreated: organization('created'),
  OrganizationUpdated: organization('changed'),
  OrganizationFeatureSetChanged: organization('changed'),
  OrganizationTokenTtlPoliciesChanged: limitsOfTokens('changed'),
  OrganizationImported: organization('changed'),
  OrganizationDeleted: organization('deleted'),
  ProjectCreated: project('created'),
  ProjectUpdated: project('changed'),
  ProjectTagBound: project('changed'),
  ProjectTagUnbound: project('changed'),
  ProjectDeleted: project('deleted'),
  AuditFactSourceRegistered: factSource('created'),
  AuditFactSourceRemoved: factSource('deleted'),
  AuditTrailRetentionChanged: trailSettings('changed'),
  AuditTrailEnabled: trailSettings('changed'),
  AuditTrailDisabled: trailSettings('changed'),
  AuditTrailTested: { unsent: 'a test of the audit trail, which changes nothing' },
  AuditFactReported: { unsent: 'a report about something that Cadastre does not own' },
} as const satisfies Record<string, MessageRule>;

const ofPeople = {
  UserCreated: PERSON,
  UserUpdated: PERSON,
  UserSuspended: PERSON,
  UserUnsuspended: PERSON,
  UserConfirmed: PERSON,
  UserForgotten: PERSON,
  ScimUserProvisioned: PERSON,
  ScimUserUpdated: PERSON,
  ScimUserDeprovisioned: PERSON,
  ScimGroupCreated: PROVIDER,
  ScimGroupUpdated: PROVIDER,
  ScimGroupMembersChanged: PROVIDER,
  ScimGroupDeleted: PROVIDER,
  IdentityProviderCreated: PROVIDER,
  IdentityProviderUpdated: PROVIDER,
  IdentityProviderDeleted: PROVIDER,
  MembershipCreated: membership('created'),
  MembershipAccepted: membership('changed'),
  MembershipRemoved: membership('deleted'),
  TeamCreated: team('created'),
  TeamUpdated: ownTeam('changed'),
  TeamDeleted: ownTeam('deleted'),
  TeamMemberAdded: teamMember,
  TeamMemberRemoved: teamMember,
  TeamWorkspaceAdded: teamAccess('workspace', { field: 'team' })('created'),
  TeamWorkspaceUpdated: teamAccess('workspace', FIRST_TEAM)('changed'),
  TeamWorkspaceRemoved: teamAccess('workspace', FIRST_TEAM)('deleted'),
  TeamProjectAdded: teamAccess('project', { field: 'team' })('created'),
  TeamProjectUpdated: teamAccess('project', FIRST_TEAM)('changed'),
  TeamProjectRemoved: teamAccess('project', FIRST_TEAM)('deleted'),
  WorkloadIdentityCreated: workloadIdentity('created'),
  WorkloadIdentityUpdated: workloadIdentity('changed'),
  WorkloadIdentityDeleted: workloadIdentity('deleted'),
  WorkloadTokenIssued: CREDENTIAL,
  AuthenticationTokenCreated: CREDENTIAL,
  AuthenticationTokenDestroyed: CREDENTIAL,
  SessionStarted: CREDENTIAL,
  SessionEnded: CREDENTIAL,
  PasswordSet: CREDENTIAL,
  PasswordRemoved: CREDENTIAL,
  TotpEnabled: CREDENTIAL,
  TotpDisabled: CREDENTIAL,
  SignInMethodsReset: CREDENTIAL,
  RecoveryCodesCreated: CREDENTIAL,
  RecoveryCodeUsed: CREDENTIAL,
  PasskeyAdded: CREDENTIAL,
  PasskeyRenamed: CREDENTIAL,
  PasskeyRemoved: CREDENTIAL,
  SignInLinkCreated: CREDENTIAL,
  SignInFailed: CREDENTIAL,
  SignInRefused: CREDENTIAL,
  IdentityLinked: CREDENTIAL,
  IdentityUnlinked: CREDENTIAL,
} as const satisfies Record<string, MessageRule>;

const ofReads = {
  PeopleListed: READ,
  AuthenticationTokenShown: READ,
  StateVersionsListed: READ,
  StateVersionShown: READ,
  ConfigurationVersionShown: READ,
  ConfigurationVersionDownloaded: READ,
  SshKeysListed: READ,
  SshKeyShown: READ,
  VariablesListed: READ,
  VariableShown: READ,
} as const satisfies Record<string, MessageRule>;

const ofWorkspaces = {
  WorkspaceCreated: workspaceIn('project')('created'),
  WorkspaceUpdated: workspace('changed'),
  WorkspaceMoved: workspaceIn('to', { left: { field: 'from' } })('changed'),
  WorkspaceDeleted: workspaceIn('project')('deleted'),
  WorkspaceSshKeyAssigned: workspace('changed'),
  WorkspaceSshKeyUnassigned: workspace('changed'),
  WorkspaceLocked: workspace('changed'),
  WorkspaceUnlocked: workspace('changed'),
  WorkspaceTagAdded: workspace('changed'),
  WorkspaceTagRemoved: workspace('changed'),
  WorkspaceTagBound: workspace('changed'),
  WorkspaceTagUnbound: workspace('changed'),
  WorkspaceTagged: workspace('changed'),
  WorkspaceUntagged: workspace('changed'),
  RemoteStateConsumersAdded: workspace('changed'),
  RemoteStateConsumersRemoved: workspace('changed'),
  StateVersionCreated: stateVersion('created'),
  StateVersionFinalized: stateVersion('changed'),
  StateVersionPromoted: stateVersion('changed'),
  StateVersionDiscarded: stateVersion('changed'),
  StateVersionErrored: stateVersion('changed'),
  StateVersionDataSoftDeleted: stateFile('changed'),
  StateVersionDataRestored: stateFile('changed'),
  StateVersionDataPermanentlyDeleted: stateFile('changed'),
  ReservedTagKeyCreated: reservedTagKey('created'),
  ReservedTagKeyUpdated: reservedTagKey('changed'),
  ReservedTagKeyDeleted: reservedTagKey('deleted'),
  DataRetentionPolicySet: policyOf({ field: 'target' })('created'),
  DataRetentionPolicyChanged: policy('changed'),
  DataRetentionPolicyRemoved: policy('deleted'),
} as const satisfies Record<string, MessageRule>;

const ofRuns = {
  RunCreated: runIn(WORKSPACE)('created'),
  RunQueued: run('changed'),
  RunStageReached: run('changed'),
  RunPlanStarted: run('changed'),
  RunPlanned: run('changed'),
  RunPlannedAndFinished: run('changed'),
  RunPlanSaved: run('changed'),
  RunConfirmed: run('changed'),
  RunApplyQueued: run('changed'),
  RunApplyStarted: run('changed'),
  RunApplied: run('changed'),
  RunErrored: run('changed'),
  RunDiscarded: run('changed'),
  RunCancelRequested: run('changed'),
  RunCanceled: run('changed'),
  RunForceCanceled: run('changed'),
  RunForceExecuted: run('changed'),
  RunCommented: run('changed'),
  ConfigurationVersionCreated: configurationIn(WORKSPACE)('created'),
  ConfigurationVersionUploaded: configuration('changed'),
  ConfigurationVersionReplaced: configuration('changed'),
  ConfigurationVersionErrored: configuration('changed'),
  ConfigurationVersionArchived: configuration('changed'),
  ConfigurationVersionSoftDeleted: configuration('changed'),
  ConfigurationVersionRestored: configuration('changed'),
  ConfigurationVersionPermanentlyDeleted: configuration('changed'),
} as const satisfies Record<string, MessageRule>;

const ofOthers = {
  NotificationConfigurationCreated: NOTIFICATION,
  NotificationConfigurationUpdated: NOTIFICATION,
  NotificationConfigurationEnabled: NOTIFICATION,
  NotificationConfigurationDisabled: NOTIFICATION,
  NotificationConfigurationDeleted: NOTIFICATION,
  AgentPoolCreated: agentPool('created'),
  AgentPoolUpdated: agentPool('changed'),
  AgentPoolDeleted: agentPool('deleted'),
  AgentRegistered: agent('created'),
  AgentDeregistered: agent('deleted'),
  SshKeyCreated: sshKey('created'),
  SshKeyRenamed: sshKey('changed'),
  SshKeyReplaced: sshKey('changed'),
  SshKeyDeleted: sshKey('deleted'),
  SavedViewCreated: VIEW,
  SavedViewUpdated: VIEW,
  SavedViewDeleted: VIEW,
  VariableCreated: variableOf({ field: 'owner' })('created'),
  VariableUpdated: variable('changed'),
  VariableDeleted: variable('deleted'),
  VariableSetCreated: variableSetIn({ field: 'project' })('created'),
  VariableSetUpdated: variableSet('changed'),
  VariableSetApplied: variableSet('changed'),
  VariableSetWithdrawn: variableSet('changed'),
  VariableSetDeleted: variableSet('deleted'),
  RegistryProviderCreated: provider('created'),
  RegistryProviderTagsChanged: provider('changed'),
  RegistryProviderDeleted: provider('deleted'),
  RegistryProviderVersionCreated: providerVersion('created'),
  RegistryProviderShasumsUploaded: providerVersion('changed'),
  RegistryProviderSignatureUploaded: providerVersion('changed'),
  RegistryProviderSignatureVerified: providerVersion('changed'),
  RegistryProviderPlatformCreated: platform('created'),
  RegistryProviderBinaryUploaded: platform('changed'),
  RegistryProviderPlatformDeleted: platform('deleted'),
  RegistryProviderVersionPublished: providerVersion('changed'),
  RegistryProviderVersionDeleted: providerVersion('deleted'),
  GpgKeyAdded: gpgKey('created'),
  GpgKeyRemoved: gpgKey('deleted'),
  GpgKeyRenewed: gpgKey('changed'),
} as const satisfies Record<string, MessageRule>;

/**
 * What a message about an event of each type says, and who may get it. A test compares the table with all event types.
 *
 * The fields must exist in every version of the event's schema, because no upcast runs: the reader selects these fields
 * alone, so that no content of an event can reach a message.
 */
export const MESSAGE_RULES: Readonly<Record<string, MessageRule>> = {
  ...ofOrganizations,
  ...ofPeople,
  ...ofReads,
  ...ofWorkspaces,
  ...ofRuns,
  ...ofOthers,
};
