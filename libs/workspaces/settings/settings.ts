import { PATH_NAME_RULE, runAllChecks, unprocessable, type ExecutionMode } from '#kernel';
import { resolveAutoDestroy } from './auto-destroy.js';
import { checkExecution, resolveExecution } from './execution.js';
import {
  VCS_REPO,
  WORKSPACE_SETTINGS,
  type SettingsInput,
  type VcsRepo,
  type VcsRepoInput,
  type WorkspaceChanges,
  type WorkspaceSettings,
} from './workspace-settings.js';

export const DEFAULT_SETTINGS: WorkspaceSettings = WORKSPACE_SETTINGS.initial;

/** One credential takes the place of the other. */
const resolveCredential = ({ oauthTokenId, vcsAppInstallationId }: VcsRepoInput): VcsRepoInput => {
  if (oauthTokenId) return { vcsAppInstallationId: null };
  return vcsAppInstallationId ? { oauthTokenId: null } : {};
};

const resolveVcsRepo = (before: VcsRepo | null, input: VcsRepoInput): VcsRepo => {
  const repo = { ...(before ?? VCS_REPO.initial), ...input, ...resolveCredential(input) };
  if (repo.identifier === '') throw unprocessable("Identifier can't be blank", 'vcs-repo/identifier');
  if (!repo.oauthTokenId && !repo.vcsAppInstallationId) {
    throw unprocessable("OAuth token can't be blank", 'vcs-repo/oauth-token-id');
  }
  return repo;
};

/** What a request makes of how it stands (contract §4.3): what it does not name stays. */
export const resolveSettingChanges = (before: WorkspaceSettings, given: SettingsInput): Partial<WorkspaceSettings> => {
  const { agentPoolId, executionMode, settingOverwrites, ...withoutExecution } = given;
  const { autoDestroyActivityDuration, autoDestroyAt, inheritsProjectAutoDestroy, ...more } = withoutExecution;
  const { vcsRepo: repo, ...plain } = more;
  const execution = { agentPoolId, executionMode, settingOverwrites };
  runAllChecks(
    () => resolveExecution(before.settingOverwrites, execution),
    () => repo && resolveVcsRepo(before.vcsRepo, repo),
  );
  return {
    ...plain,
    ...resolveExecution(before.settingOverwrites, execution),
    ...resolveAutoDestroy(before, { autoDestroyActivityDuration, autoDestroyAt, inheritsProjectAutoDestroy }),
    ...(repo === undefined ? {} : { vcsRepo: repo && resolveVcsRepo(before.vcsRepo, repo) }),
  };
};

export const NAME_RULE = { ...PATH_NAME_RULE, most: 90 };

const checkSharing = ({ globalRemoteState, projectRemoteState }: WorkspaceSettings): void => {
  if (globalRemoteState && projectRemoteState) {
    throw unprocessable(
      'Project remote state cannot be enabled when global remote state sharing is enabled',
      'project-remote-state',
    );
  }
};

/** Rules between settings; `followed` is the execution mode where the workspace has none of its own. */
export const checkSettings = (all: WorkspaceSettings, wanted: WorkspaceChanges, followed: ExecutionMode): void =>
  runAllChecks(
    () => checkExecution(all, wanted, followed),
    () => checkSharing(all),
  );
