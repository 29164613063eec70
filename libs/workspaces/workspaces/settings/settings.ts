import { PATH_NAME_RULE, runAllChecks, unprocessable, type ExecutionMode } from '#platform/kernel';
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

/** A new credential replaces the other kind of credential. */
const resolveCredential = ({ oauthTokenId, vcsAppInstallationId }: VcsRepoInput): VcsRepoInput => {
  if (oauthTokenId) return { vcsAppInstallationId: null };
  return vcsAppInstallationId ? { oauthTokenId: null } : {};
};

const mergeVcsRepo = (before: VcsRepo | null, input: VcsRepoInput): VcsRepo => ({
  ...(before ?? VCS_REPO.initial),
  ...input,
  ...resolveCredential(input),
});

const resolveVcsRepo = (before: VcsRepo | null, input: VcsRepoInput): VcsRepo => {
  const repo = mergeVcsRepo(before, input);
  if (repo.identifier === '') throw unprocessable("Identifier can't be blank", 'vcs-repo/identifier');
  if (!repo.oauthTokenId && !repo.vcsAppInstallationId) {
    throw unprocessable("OAuth token can't be blank", 'vcs-repo/oauth-token-id');
  }
  return repo;
};

/**
 * Returns the id of the OAuth token with which the request lets the workspace read another repository than before; null if there
 * is none.
 */
export const getRequestedToken = (before: VcsRepo | null, input: VcsRepoInput | null | undefined): string | null => {
  if (!input) return null;
  const { oauthTokenId, identifier } = mergeVcsRepo(before, input);
  const isSame = oauthTokenId === before?.oauthTokenId && identifier === before.identifier;
  // Without a repository, the settings are refused.
  return isSame || !identifier ? null : oauthTokenId || null;
};

/** Returns the changes that a request makes to the present settings; settings that it omits stay. */
export const resolveSettingChanges = (before: WorkspaceSettings, input: SettingsInput): Partial<WorkspaceSettings> => {
  const { agentPoolId, executionMode, settingOverwrites, ...withoutExecution } = input;
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

/** Checks rules between settings. `followed` is the execution mode of a workspace without its own mode. */
export const checkSettings = (all: WorkspaceSettings, changes: WorkspaceChanges, followed: ExecutionMode): void =>
  runAllChecks(
    () => checkExecution(all, changes, followed),
    () => checkSharing(all),
  );
