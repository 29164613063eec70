/**
 * What an import requires of an event. Paths name fields of its data in the present schema version: `createdBy.id`, and
 * `workspaces[]` for each element of a list.
 */
export type ImportedEventRule = {
  /**
   * The prefix of the id of its stream. `reads`, `facts` and `workload-tokens` are streams whose ids contain the id of the
   * organization or of one of its resources.
   */
  readonly stream: string;
  /** Fields with an id of a resource of the organization, or of a person (`user`), and the prefixes that it may have. */
  readonly references?: Readonly<Record<string, readonly string[]>>;
  /** Fields with the id of a resource that the event creates and that need not have a stream. */
  readonly creates?: Readonly<Record<string, string>>;
};

const inStream = (
  stream: string,
  references: Readonly<Record<string, string>> = {},
  creates: Readonly<Record<string, string>> = {},
): ImportedEventRule => ({
  stream,
  references: Object.fromEntries(Object.entries(references).map(([path, prefixes]) => [path, prefixes.split(' ')])),
  creates,
});

const organization = inStream('org');
const project = inStream('prj');
const workspace = inStream('ws');
const stateOfWorkspace = inStream('ws', { id: 'sv' });
const backingData = inStream('sv', { workspace: 'ws' });
const agentPool = {
  'allowedProjects[]': 'prj',
  'allowedWorkspaces[]': 'ws',
  'excludedWorkspaces[]': 'ws',
};
const changedAgentPool = {
  'changes.allowedProjects[]': 'prj',
  'changes.allowedWorkspaces[]': 'ws',
  'changes.excludedWorkspaces[]': 'ws',
};
const membership = inStream('ou', { user: 'user', 'invitation.membership': 'ou' });
const teamMember = inStream('team', { user: 'user', 'invitation.membership': 'ou' });
const teamWorkspace = inStream('tws', { workspace: 'ws' });
const teamProject = inStream('tprj', { project: 'prj' });
const token = inStream('at', { owner: 'org team apool agent run', 'organizations[]': 'org' });
const variableSetTargets = inStream('varset', { 'workspaces[]': 'ws', 'projects[]': 'prj' });
const run = inStream('run');
const configurationVersion = inStream('cv');
const providerVersion = inStream('provver');
const platform = inStream('provver', { platform: 'provpltfrm' });
const gpgKey = inStream('gpgkey');
const sshKey = inStream('sshkey');
const savedView = inStream('sview');
const reservedTagKey = inStream('rtk');
const retentionPolicy = inStream('drp');
const trailSettings = inStream('atrail');
const notifications = inStream('nc');

/**
 * The events that an import may bring. Each belongs to the organization, and can give nobody access to anything else: the
 * ids in these fields must belong to the export. Events that are not listed are refused, so a new event has to be listed
 * here or in REFUSED_EVENTS (test/architecture/imported-events.spec.ts).
 */
export const IMPORTED_EVENTS: Readonly<Record<string, ImportedEventRule>> = {
  OrganizationCreated: inStream('org', {
    defaultProject: 'prj',
    ownersTeam: 'team',
    'settings.defaultAgentPool': 'apool',
  }),
  OrganizationUpdated: inStream('org', { 'changes.defaultAgentPool': 'apool' }),
  OrganizationFeatureSetChanged: organization,
  OrganizationTokenTtlPoliciesChanged: organization,
  OrganizationImported: organization,
  ProjectCreated: inStream('prj', { 'settings.defaultAgentPoolId': 'apool' }),
  ProjectUpdated: inStream('prj', { 'changes.defaultAgentPoolId': 'apool' }),
  ProjectTagBound: project,
  ProjectTagUnbound: project,
  ProjectDeleted: project,

  WorkspaceCreated: inStream('ws', { project: 'prj', 'settings.agentPoolId': 'apool' }),
  WorkspaceUpdated: inStream('ws', { 'changes.agentPoolId': 'apool' }),
  WorkspaceMoved: inStream('ws', { from: 'prj', to: 'prj' }),
  WorkspaceDeleted: inStream('ws', { project: 'prj' }),
  WorkspaceSshKeyAssigned: inStream('ws', { key: 'sshkey' }),
  WorkspaceSshKeyUnassigned: inStream('ws', { key: 'sshkey' }),
  WorkspaceLocked: workspace,
  WorkspaceUnlocked: workspace,
  WorkspaceTagAdded: workspace,
  WorkspaceTagRemoved: workspace,
  WorkspaceTagBound: workspace,
  WorkspaceTagUnbound: workspace,
  WorkspaceTagged: workspace,
  WorkspaceUntagged: workspace,
  RemoteStateConsumersAdded: inStream('ws', { 'workspaces[]': 'ws' }),
  RemoteStateConsumersRemoved: inStream('ws', { 'workspaces[]': 'ws' }),
  StateVersionCreated: inStream('ws', { run: 'run', rollbackOf: 'sv' }, { id: 'sv' }),
  StateVersionFinalized: inStream('ws', { id: 'sv' }, { 'outputs[].id': 'wsout' }),
  StateVersionPromoted: stateOfWorkspace,
  StateVersionDiscarded: stateOfWorkspace,
  StateVersionErrored: stateOfWorkspace,
  StateVersionDataSoftDeleted: backingData,
  StateVersionDataRestored: backingData,
  StateVersionDataPermanentlyDeleted: backingData,
  StateVersionsListed: inStream('reads', { workspace: 'ws' }),
  StateVersionShown: inStream('reads', { stateVersion: 'sv', workspace: 'ws' }),

  RunCreated: inStream('run', { workspace: 'ws', configurationVersion: 'cv' }),
  RunQueued: run,
  RunStageReached: run,
  RunPlanStarted: run,
  RunPlanned: run,
  RunPlannedAndFinished: run,
  RunPlanSaved: run,
  RunConfirmed: run,
  RunApplyQueued: run,
  RunApplyStarted: run,
  RunApplied: run,
  RunErrored: run,
  RunDiscarded: run,
  RunCancelRequested: run,
  RunCanceled: run,
  RunForceCanceled: run,
  RunForceExecuted: run,
  RunCommented: inStream('run', {}, { id: 'wsc' }),
  ConfigurationVersionCreated: inStream('cv', { workspace: 'ws' }),
  ConfigurationVersionUploaded: configurationVersion,
  ConfigurationVersionReplaced: configurationVersion,
  ConfigurationVersionErrored: configurationVersion,
  ConfigurationVersionArchived: configurationVersion,
  ConfigurationVersionSoftDeleted: configurationVersion,
  ConfigurationVersionRestored: configurationVersion,
  ConfigurationVersionPermanentlyDeleted: configurationVersion,
  ConfigurationVersionShown: inStream('reads', { configurationVersion: 'cv', workspace: 'ws' }),
  ConfigurationVersionDownloaded: inStream('reads', { configurationVersion: 'cv', workspace: 'ws' }),

  MembershipCreated: membership,
  MembershipAccepted: inStream('ou', { user: 'user' }),
  MembershipRemoved: membership,
  TeamCreated: inStream('team'),
  TeamUpdated: inStream('team'),
  TeamDeleted: inStream('team'),
  TeamMemberAdded: teamMember,
  TeamMemberRemoved: teamMember,
  TeamWorkspaceAdded: inStream('tws', { workspace: 'ws', team: 'team' }),
  TeamWorkspaceUpdated: teamWorkspace,
  TeamWorkspaceRemoved: teamWorkspace,
  TeamProjectAdded: inStream('tprj', { project: 'prj', team: 'team' }),
  TeamProjectUpdated: teamProject,
  TeamProjectRemoved: teamProject,
  AuthenticationTokenCreated: token,
  AuthenticationTokenDestroyed: token,
  AuthenticationTokenShown: inStream('reads', { token: 'at', owner: 'org team apool agent run' }),
  PeopleListed: inStream('reads', { organization: 'org', team: 'team' }),
  WorkloadIdentityCreated: inStream('wid', { team: 'team' }),
  WorkloadIdentityUpdated: inStream('wid', { team: 'team' }),
  WorkloadIdentityDeleted: inStream('wid', { team: 'team' }),
  WorkloadTokenIssued: inStream('workload-tokens', { identity: 'wid', token: 'at' }),

  AgentPoolCreated: inStream('apool', agentPool),
  AgentPoolUpdated: inStream('apool', changedAgentPool),
  AgentPoolDeleted: inStream('apool'),
  AgentRegistered: inStream('agent', { pool: 'apool' }),
  AgentDeregistered: inStream('agent', { pool: 'apool' }),
  SshKeyCreated: sshKey,
  SshKeyRenamed: sshKey,
  SshKeyReplaced: sshKey,
  SshKeyDeleted: sshKey,
  SshKeysListed: inStream('reads', { organization: 'org' }),
  SshKeyShown: inStream('reads', { key: 'sshkey' }),

  VariableCreated: inStream('var', { 'owner.id': 'ws varset' }),
  VariableUpdated: inStream('var'),
  VariableDeleted: inStream('var'),
  VariablesListed: inStream('reads', { 'owner.id': 'ws varset' }),
  VariableShown: inStream('reads', { variable: 'var', 'owner.id': 'ws varset' }),
  VariableSetCreated: inStream('varset', { project: 'prj' }),
  VariableSetUpdated: inStream('varset'),
  VariableSetApplied: variableSetTargets,
  VariableSetWithdrawn: variableSetTargets,
  VariableSetDeleted: inStream('varset'),

  RegistryProviderCreated: inStream('prov'),
  RegistryProviderTagsChanged: inStream('prov'),
  RegistryProviderDeleted: inStream('prov'),
  RegistryProviderVersionCreated: inStream('provver', { provider: 'prov' }),
  RegistryProviderShasumsUploaded: providerVersion,
  RegistryProviderSignatureUploaded: providerVersion,
  RegistryProviderSignatureVerified: providerVersion,
  RegistryProviderPlatformCreated: inStream('provver', {}, { platform: 'provpltfrm' }),
  RegistryProviderBinaryUploaded: platform,
  RegistryProviderPlatformDeleted: platform,
  RegistryProviderVersionPublished: providerVersion,
  RegistryProviderVersionDeleted: providerVersion,
  GpgKeyAdded: gpgKey,
  GpgKeyRenewed: gpgKey,
  GpgKeyRemoved: gpgKey,

  NotificationConfigurationCreated: inStream('nc', { 'subscribable.id': 'ws team org', 'users[]': 'user' }),
  NotificationConfigurationUpdated: inStream('nc', { 'changes.users[]': 'user' }),
  NotificationConfigurationEnabled: notifications,
  NotificationConfigurationDisabled: notifications,
  NotificationConfigurationDeleted: inStream('nc', { 'subscribable.id': 'ws team org' }),
  SavedViewCreated: savedView,
  SavedViewUpdated: savedView,
  SavedViewDeleted: savedView,
  ReservedTagKeyCreated: reservedTagKey,
  ReservedTagKeyUpdated: reservedTagKey,
  ReservedTagKeyDeleted: reservedTagKey,
  DataRetentionPolicySet: inStream('drp', { 'target.id': 'ws org' }),
  DataRetentionPolicyChanged: retentionPolicy,
  DataRetentionPolicyRemoved: retentionPolicy,
  AuditTrailRetentionChanged: trailSettings,
  AuditTrailEnabled: trailSettings,
  AuditTrailDisabled: trailSettings,
  AuditTrailTested: trailSettings,
  AuditFactReported: inStream('facts'),
  AuditFactSourceRegistered: inStream('afs'),
  AuditFactSourceRemoved: inStream('afs'),
};

const ACCOUNT = 'accounts belong to the site; an import creates them itself';
const SIGN_IN = 'people sign in to a site, and each site decides how';
const PROVISIONING = 'identity providers and what they provision belong to a site';

/** Events that no import may bring, with the reason. No export contains them, because they belong to no organization. */
export const REFUSED_EVENTS: Readonly<Record<string, string>> = {
  OrganizationDeleted: 'a deleted organization cannot be exported',
  UserCreated: ACCOUNT,
  UserUpdated: ACCOUNT,
  UserConfirmed: ACCOUNT,
  UserSuspended: ACCOUNT,
  UserUnsuspended: ACCOUNT,
  UserForgotten: ACCOUNT,
  SessionStarted: SIGN_IN,
  SessionEnded: SIGN_IN,
  PasswordSet: SIGN_IN,
  PasswordRemoved: SIGN_IN,
  TotpEnabled: SIGN_IN,
  TotpDisabled: SIGN_IN,
  SignInMethodsReset: SIGN_IN,
  RecoveryCodesCreated: SIGN_IN,
  RecoveryCodeUsed: SIGN_IN,
  PasskeyAdded: SIGN_IN,
  PasskeyRenamed: SIGN_IN,
  PasskeyRemoved: SIGN_IN,
  IdentityLinked: SIGN_IN,
  IdentityUnlinked: SIGN_IN,
  SignInLinkCreated: SIGN_IN,
  SignInFailed: SIGN_IN,
  SignInRefused: SIGN_IN,
  IdentityProviderCreated: PROVISIONING,
  IdentityProviderUpdated: PROVISIONING,
  IdentityProviderDeleted: PROVISIONING,
  ScimUserProvisioned: PROVISIONING,
  ScimUserUpdated: PROVISIONING,
  ScimUserDeprovisioned: PROVISIONING,
  ScimGroupCreated: PROVISIONING,
  ScimGroupUpdated: PROVISIONING,
  ScimGroupMembersChanged: PROVISIONING,
  ScimGroupDeleted: PROVISIONING,
};
