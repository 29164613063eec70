import type { ExecutionMode, Timestamp } from '#kernel';

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
  readonly executionMode: ExecutionMode;
  readonly fileTriggersEnabled: boolean;
  readonly globalRemoteState: boolean;
  /** Absent while the value follows from the other settings: auto-destroy.ts. */
  readonly inheritsProjectAutoDestroy?: boolean;
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
