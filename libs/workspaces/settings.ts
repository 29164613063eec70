import { checkAutoDestroyDuration, IN_PATHS, unprocessable, type Timestamp } from '#kernel';

export type VcsRepo = {
  readonly identifier: string;
  readonly oauthTokenId: string | null;
  readonly vcsAppInstallationId: string | null;
  readonly branch: string;
  readonly ingressSubmodules: boolean;
  readonly tagsRegex: string | null;
};

/** What users set (contract §2.3, §4.3), with the names of the API in camelCase. */
export type WorkspaceSettings = {
  readonly agentPoolId: string | null;
  readonly allowDestroyPlan: boolean;
  readonly assessmentsEnabled: boolean;
  readonly autoApply: boolean;
  readonly autoApplyRunTrigger: boolean;
  readonly autoDestroyActivityDuration: string | null;
  readonly autoDestroyAt: Timestamp | null;
  readonly description: string | null;
  readonly executionMode: 'remote' | 'local' | 'agent';
  readonly fileTriggersEnabled: boolean;
  readonly globalRemoteState: boolean;
  readonly projectRemoteState: boolean;
  readonly queueAllRuns: boolean;
  readonly settingOverwrites: { readonly executionMode: boolean; readonly agentPool: boolean };
  readonly source: string;
  readonly sourceName: string | null;
  readonly sourceUrl: string | null;
  readonly speculativeEnabled: boolean;
  readonly structuredRunOutputEnabled: boolean;
  /** `iac-version` and `terraform-version` are two names of it (clients.md §1). */
  readonly terraformVersion: string;
  readonly triggerPatterns: readonly string[];
  readonly triggerPrefixes: readonly string[];
  readonly vcsRepo: VcsRepo | null;
  readonly workingDirectory: string | null;
};

export type WorkspaceChanges = Partial<WorkspaceSettings & { readonly name: string }>;

export type VcsRepoInput = Partial<VcsRepo>;
export type OverwritesInput = Partial<WorkspaceSettings['settingOverwrites']>;

/** What a request says of settings: absent keeps, also within the two that are objects. */
export type SettingsInput = Partial<Omit<WorkspaceSettings, 'settingOverwrites' | 'vcsRepo'>> & {
  readonly settingOverwrites?: OverwritesInput;
  readonly vcsRepo?: VcsRepoInput | null;
};

export const DEFAULT_SETTINGS: WorkspaceSettings = {
  agentPoolId: null,
  allowDestroyPlan: true,
  assessmentsEnabled: false,
  autoApply: false,
  autoApplyRunTrigger: false,
  autoDestroyActivityDuration: null,
  autoDestroyAt: null,
  description: null,
  executionMode: 'remote',
  fileTriggersEnabled: true,
  globalRemoteState: false,
  projectRemoteState: false,
  queueAllRuns: false,
  settingOverwrites: { executionMode: false, agentPool: false },
  source: 'tfe-api',
  sourceName: null,
  sourceUrl: null,
  speculativeEnabled: true,
  structuredRunOutputEnabled: true,
  terraformVersion: 'latest',
  triggerPatterns: [],
  triggerPrefixes: [],
  vcsRepo: null,
  workingDirectory: null,
};

const NO_REPO: VcsRepo = {
  identifier: '',
  oauthTokenId: null,
  vcsAppInstallationId: null,
  branch: '',
  ingressSubmodules: false,
  tagsRegex: null,
};

/** One credential takes the place of the other. */
const credentialOf = ({ oauthTokenId, vcsAppInstallationId }: VcsRepoInput): VcsRepoInput => {
  if (oauthTokenId) return { vcsAppInstallationId: null };
  return vcsAppInstallationId ? { oauthTokenId: null } : {};
};

const repoWith = (before: VcsRepo | null, input: VcsRepoInput): VcsRepo => {
  const repo = { ...(before ?? NO_REPO), ...input, ...credentialOf(input) };
  if (repo.identifier === '') throw unprocessable("Identifier can't be blank", 'vcs-repo/identifier');
  if (!repo.oauthTokenId && !repo.vcsAppInstallationId) {
    throw unprocessable("OAuth token can't be blank", 'vcs-repo/oauth-token-id');
  }
  return repo;
};

type Overwrites = WorkspaceSettings['settingOverwrites'];

/** Who leaves the agent mode, or follows the default again, leaves the pool too: none is held on to unseen. */
const poolOf = (input: SettingsInput, overwrites: Overwrites): Pick<SettingsInput, 'agentPoolId'> => {
  const leaves = input.executionMode !== undefined && input.executionMode !== 'agent';
  const follows = input.settingOverwrites !== undefined && !overwrites.executionMode && !overwrites.agentPool;
  return leaves || follows ? { agentPoolId: null } : {};
};

/** What a request makes of how it stands (contract §4.3): what it does not name stays. */
export const changesOf = (
  before: Pick<WorkspaceSettings, 'settingOverwrites' | 'vcsRepo'>,
  given: SettingsInput,
): Partial<WorkspaceSettings> => {
  const { settingOverwrites: overwrites, vcsRepo: repo, ...input } = given;
  const settingOverwrites = { ...before.settingOverwrites, ...overwrites };
  return {
    ...poolOf(given, settingOverwrites),
    ...input,
    ...(overwrites ? { settingOverwrites } : {}),
    ...(repo === undefined ? {} : { vcsRepo: repo && repoWith(before.vcsRepo, repo) }),
  };
};

export const NAME = { ...IN_PATHS, most: 90 };

/** Whether the mode is agent after this, and this has to do with it; a mode that it only once had does not count. */
const makesAgent = ({ executionMode, settingOverwrites }: WorkspaceSettings, given: WorkspaceChanges): boolean => {
  if (executionMode !== 'agent') return false;
  if (given.executionMode !== undefined) return true;
  const touched = given.agentPoolId !== undefined || given.settingOverwrites !== undefined;
  return touched && settingOverwrites.executionMode;
};

/** Rules between settings; `given` are those that the request names. Texts are those in use (clients.md §2). */
export const checkSettings = (all: WorkspaceSettings, given: WorkspaceChanges): void => {
  if (given.agentPoolId && all.executionMode !== 'agent') {
    throw unprocessable("Agent pool must not be specified unless using 'agent' execution mode", 'agent-pool-id');
  }
  if (all.agentPoolId === null && makesAgent(all, given)) {
    throw unprocessable("Agent pool must be specified when using 'agent' execution mode", 'agent-pool-id');
  }
  checkAutoDestroyDuration(given.autoDestroyActivityDuration);
  if (all.globalRemoteState && all.projectRemoteState) {
    throw unprocessable(
      'Project remote state cannot be enabled when global remote state sharing is enabled',
      'project-remote-state',
    );
  }
};
