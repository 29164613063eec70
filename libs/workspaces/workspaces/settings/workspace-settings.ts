import { z } from 'zod';
import { EXECUTION_MODES, type Message } from '#platform/kernel';
import { defineAttributes, flag, nullableText, type AttributeValues } from '#api/json-api/rules';

const nullableString = { schema: z.string().nullable(), initial: null };
const paths = { schema: z.array(z.string()), initial: [] };

const vcsRepo = {
  identifier: { schema: z.string(), initial: '' },
  oauthTokenId: nullableString,
  vcsAppInstallationId: nullableString,
  branch: { schema: z.string(), initial: '' },
  ingressSubmodules: { schema: z.boolean(), initial: false },
  tagsRegex: nullableString,
};
export const VCS_REPO = defineAttributes(vcsRepo);
export type VcsRepo = AttributeValues<typeof vcsRepo>;

const settingOverwrites = {
  executionMode: { schema: z.boolean(), initial: false },
  agentPool: { schema: z.boolean(), initial: false },
};
const SETTING_OVERWRITES = defineAttributes(settingOverwrites);

/**
 * The settings of a workspace, with the names of the API in camelCase. Settings without `body`
 * are parsed from attributes of another form (workspaces.body.ts).
 */
const settings = {
  agentPoolId: nullableText(255),
  allowDestroyPlan: flag(true),
  assessmentsEnabled: flag(false),
  autoApply: flag(false),
  autoApplyRunTrigger: flag(false),
  autoDestroyActivityDuration: nullableString,
  /** A timestamp. */
  autoDestroyAt: nullableString,
  description: nullableText(10_000),
  executionMode: { schema: z.enum(EXECUTION_MODES), initial: 'remote' },
  fileTriggersEnabled: flag(true),
  globalRemoteState: flag(false),
  /** Absent while the value follows from the other settings: auto-destroy.ts. */
  inheritsProjectAutoDestroy: { schema: z.boolean().exactOptional(), body: z.boolean().optional() },
  projectRemoteState: flag(false),
  queueAllRuns: flag(false),
  settingOverwrites: { schema: z.strictObject(SETTING_OVERWRITES.shape), initial: SETTING_OVERWRITES.initial },
  source: { schema: z.string(), initial: 'tfe-api' },
  sourceName: nullableString,
  sourceUrl: nullableString,
  speculativeEnabled: flag(true),
  structuredRunOutputEnabled: flag(true),
  /** `iac-version` and `terraform-version` are two names of it. */
  terraformVersion: { schema: z.string(), initial: 'latest' },
  triggerPatterns: paths,
  triggerPrefixes: paths,
  vcsRepo: { schema: z.strictObject(VCS_REPO.shape).nullable(), initial: null },
  workingDirectory: nullableText(1_000),
} as const;

export const WORKSPACE_SETTINGS = defineAttributes(settings);
export type WorkspaceSettings = AttributeValues<typeof settings>;

export type WorkspaceChanges = Partial<WorkspaceSettings & { readonly name: string }>;

export type WorkspaceUpdated = Message<'WorkspaceUpdated', { changes: WorkspaceChanges }>;

export type VcsRepoInput = Partial<VcsRepo>;
export type OverwritesInput = Partial<WorkspaceSettings['settingOverwrites']>;

/** The settings of a request: absent keys keep their values, also within the two objects. */
export type SettingsInput = Partial<Omit<WorkspaceSettings, 'settingOverwrites' | 'vcsRepo'>> & {
  readonly settingOverwrites?: OverwritesInput;
  readonly vcsRepo?: VcsRepoInput | null;
};
