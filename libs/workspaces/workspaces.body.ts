import { z } from 'zod';
import { unprocessable } from '#kernel';
import { resourceBody, toOneInput, typeOf } from '#json-api';
import type { VcsRepo, WorkspaceChanges, WorkspaceSettings } from './settings.js';
import { checkBindings, checkFlatTags, type Tag } from './tags.js';

const vcsRepo = z.object({
  identifier: z.string().optional(),
  'oauth-token-id': z.string().nullish(),
  'vcs-app-installation-id': z.string().nullish(),
  'github-app-installation-id': z.string().nullish(),
  branch: z.string().nullish(),
  'ingress-submodules': z.boolean().nullish(),
  'tags-regex': z.string().nullish(),
});

const time = z.iso.datetime({ offset: true, error: 'Auto destroy at must be an ISO 8601 time' });

/** The attributes of both request tables (contract §4.3); all optional here, a name is asked for on create. */
const attributes = z.object({
  name: z.string().optional(),
  'agent-pool-id': z.string().nullish(),
  'allow-destroy-plan': z.boolean().optional(),
  'assessments-enabled': z.boolean().optional(),
  'auto-apply': z.boolean().optional(),
  'auto-apply-run-trigger': z.boolean().optional(),
  'auto-destroy-activity-duration': z.string().nullish(),
  'auto-destroy-at': time.nullish(),
  description: z.string().nullish(),
  'execution-mode': z.enum(['remote', 'local', 'agent']).optional(),
  'file-triggers-enabled': z.boolean().optional(),
  'global-remote-state': z.boolean().optional(),
  'iac-version': z.string().optional(),
  operations: z.boolean().optional(),
  'project-remote-state': z.boolean().optional(),
  'queue-all-runs': z.boolean().optional(),
  'setting-overwrites': z
    .object({ 'execution-mode': z.boolean().optional(), 'agent-pool': z.boolean().optional() })
    .optional(),
  'source-name': z.string().nullish(),
  'source-url': z.string().nullish(),
  'speculative-enabled': z.boolean().optional(),
  'structured-run-output-enabled': z.boolean().optional(),
  'terraform-version': z.string().optional(),
  'trigger-patterns': z.array(z.string()).nullish(),
  'trigger-prefixes': z.array(z.string()).nullish(),
  'vcs-repo': vcsRepo.nullish(),
  'working-directory': z.string().nullish(),
});

const binding = z.object({
  type: typeOf('tag-bindings'),
  attributes: z.object({ key: z.string(), value: z.string().nullish() }),
});
const flatTag = z.object({
  type: typeOf('tags'),
  id: z.string().optional(),
  attributes: z.object({ name: z.string() }).optional(),
});

const relationships = z
  .object({
    project: toOneInput,
    tags: z.object({ data: z.array(flatTag) }).optional(),
    'tag-bindings': z.object({ data: z.array(binding) }).optional(),
  })
  .optional();

export const createBody = resourceBody('workspaces', attributes.extend({ name: z.string() }), relationships);
export const updateBody = resourceBody('workspaces', attributes.default({}), relationships);
export const bindingsBody = z.object({ data: z.array(binding) });
export const tagsBody = z.object({ data: z.array(flatTag) });

/** `reason` at the top, or in the attributes, or nothing at all (clients.md §1). */
export const lockBody = z.object({
  reason: z.string().nullish(),
  data: z
    .object({ type: typeOf('workspaces'), attributes: z.object({ reason: z.string().nullish() }).optional() })
    .optional(),
});

type Attributes = z.infer<typeof attributes>;

/** Drops what the request did not name: absent keeps, null clears. */
const given = <T extends Record<string, unknown>>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };

/** `operations` is the old name for two of the execution modes. */
const modeOf = (input: Attributes): WorkspaceSettings['executionMode'] | undefined => {
  if (input.operations === undefined) return input['execution-mode'];
  if (input['execution-mode'] !== undefined) {
    throw unprocessable('Operations must not be given together with execution mode', 'operations');
  }
  return input.operations ? 'remote' : 'local';
};

/** Giving a mode or a pool overwrites what the project or organization says, unless the request says otherwise. */
const overwritesOf = (
  input: Attributes,
  mode: string | undefined,
): WorkspaceSettings['settingOverwrites'] | undefined => {
  const said = input['setting-overwrites'];
  if (!said && mode === undefined) return undefined;
  const executionMode = said?.['execution-mode'] ?? mode !== undefined;
  if (executionMode && mode === undefined && said?.['execution-mode'] === true) {
    throw unprocessable('Execution mode must be given when setting overwrites names it', 'execution-mode');
  }
  return { executionMode, agentPool: said?.['agent-pool'] ?? executionMode };
};

const versionOf = (input: Attributes): string | undefined => input['iac-version'] ?? input['terraform-version'];

/** Patterns and prefixes exclude one another: giving one that is not empty clears the other (clients.md §3). */
const triggersOf = (input: Attributes): Pick<WorkspaceChanges, 'triggerPatterns' | 'triggerPrefixes'> => {
  const patterns = input['trigger-patterns'] ?? undefined;
  const prefixes = input['trigger-prefixes'] ?? undefined;
  if (patterns?.length && prefixes?.length) {
    throw unprocessable('Trigger patterns cannot be given together with trigger prefixes', 'trigger-patterns');
  }
  if (patterns?.length) return { triggerPatterns: patterns, triggerPrefixes: [] };
  if (prefixes?.length) return { triggerPatterns: [], triggerPrefixes: prefixes };
  return given({ triggerPatterns: patterns, triggerPrefixes: prefixes });
};

const vcsRepoOf = (input: Attributes): VcsRepo | null | undefined => {
  const repo = input['vcs-repo'];
  if (!repo) return repo;
  const installation = repo['vcs-app-installation-id'] ?? repo['github-app-installation-id'] ?? null;
  const oauthToken = repo['oauth-token-id'] ?? null;
  if (installation && oauthToken) {
    throw unprocessable('OAuth token and VCS app installation must not both be given', 'vcs-repo');
  }
  if (!repo.identifier) throw unprocessable("Identifier can't be blank", 'vcs-repo/identifier');
  if (!installation && !oauthToken) throw unprocessable("OAuth token can't be blank", 'vcs-repo/oauth-token-id');
  return {
    identifier: repo.identifier,
    oauthTokenId: oauthToken,
    vcsAppInstallationId: installation,
    branch: repo.branch ?? '',
    ingressSubmodules: repo['ingress-submodules'] ?? false,
    tagsRegex: repo['tags-regex'] ?? null,
  };
};

const destroyTime = (text: string | null | undefined): string | null | undefined =>
  text ? new Date(text).toISOString() : text;

/** What a request changes, in our names. */
export const settingsOf = (input: Attributes): Partial<WorkspaceSettings> => {
  const mode = modeOf(input);
  return given({
    agentPoolId: input['agent-pool-id'],
    allowDestroyPlan: input['allow-destroy-plan'],
    assessmentsEnabled: input['assessments-enabled'],
    autoApply: input['auto-apply'],
    autoApplyRunTrigger: input['auto-apply-run-trigger'],
    autoDestroyActivityDuration: input['auto-destroy-activity-duration'],
    autoDestroyAt: destroyTime(input['auto-destroy-at']),
    description: input.description,
    executionMode: mode,
    fileTriggersEnabled: input['file-triggers-enabled'],
    globalRemoteState: input['global-remote-state'],
    projectRemoteState: input['project-remote-state'],
    queueAllRuns: input['queue-all-runs'],
    settingOverwrites: overwritesOf(input, mode),
    speculativeEnabled: input['speculative-enabled'],
    structuredRunOutputEnabled: input['structured-run-output-enabled'],
    terraformVersion: versionOf(input),
    ...triggersOf(input),
    vcsRepo: vcsRepoOf(input),
    workingDirectory: input['working-directory'],
  }) as Partial<WorkspaceSettings>;
};

/** Where it came from is said once, on create. */
export const originOf = (input: Attributes): Partial<WorkspaceSettings> =>
  given({ sourceName: input['source-name'], sourceUrl: input['source-url'] }) as Partial<WorkspaceSettings>;

export const bindingsOf = (data: z.infer<typeof bindingsBody>['data'], pointer: string): readonly Tag[] => {
  const bindings = data.map(({ attributes: { key, value } }) => ({ key, value: value ?? '' }));
  checkBindings(bindings, pointer);
  return bindings;
};

/** The names in a list of flat tags; entries may carry only an id, which the caller resolves. */
export const namesOf = (data: z.infer<typeof tagsBody>['data'], pointer: string): readonly string[] => {
  const names = data.flatMap(({ attributes: tag }) => (tag ? [tag.name] : []));
  checkFlatTags(names, pointer);
  return names;
};
