import { z } from 'zod';
import { RE2JS } from 're2js';
import {
  checkAutoDestroyDuration,
  checkName,
  collectRefusals,
  EXECUTION_MODES,
  runAllChecks,
  parseInstant,
  toLabel,
  unprocessable,
} from '#platform/kernel';
import {
  strictObject,
  omitUndefined,
  identifiersBody,
  ignoredMember,
  storedOnly,
  parseBody,
  unsupportedMember,
  resourceBody,
  text,
  toOneInput,
  parseToOne,
  typeSchema,
} from '#api/json-api';
import { NAME_RULE, resolveSettingChanges } from '../settings/settings.js';
import {
  WORKSPACE_SETTINGS,
  type OverwritesInput,
  type SettingsInput,
  type VcsRepoInput,
  type WorkspaceSettings,
} from '../settings/workspace-settings.js';
import { flatTagsInput, parseFlatTags, tagBindingsInput, toBindings } from '#organizations/tag-bindings';
import type { ToolReleases } from '../tool-versions/tool-releases.catalogue.js';
import type { VersionCheck } from './workspaces.commands.js';

/** Characters of all paths of a workspace together: lists show up to 100 workspaces with theirs. */
const PATHS_LENGTH = 20_000;

const paths = z
  .array(text(500))
  .max(200, { error: 'too many, at most 200 of them' })
  .refine((texts) => texts.join('').length <= PATHS_LENGTH, {
    error: `Paths: too long, at most ${PATHS_LENGTH} characters in all of them together`,
  });

/** The engine takes linear time for every expression that it accepts. */
const isRe2 = (expression: string): boolean => {
  try {
    RE2JS.compile(expression);
    return true;
  } catch {
    return false;
  }
};

const vcsRepo = z.object({
  identifier: text(500).optional(),
  'oauth-token-id': text(500).nullish(),
  'vcs-app-installation-id': storedOnly(text(500).nullish()),
  'github-app-installation-id': storedOnly(text(500).nullish()),
  branch: text(500).nullish(),
  'ingress-submodules': z.boolean().nullish(),
  'tags-regex': text(500)
    .refine(isRe2, { error: 'must be a regular expression of RE2, without lookarounds and backreferences' })
    .nullish(),
});

/**
 * Near the years 0000 and 9999 the conversion to UTC can give a year of six digits, which clients cannot parse. Such
 * times are refused.
 */
const isTime = (text: string): boolean => {
  const time = parseInstant(text);
  return time !== undefined && /^\d{4}-/.test(new Date(time).toISOString());
};
const timeOrBlank = z
  .string()
  .refine((text) => text === '' || isTime(text), 'Auto destroy at must be an ISO 8601 time');

/** The attributes of both request tables. All are optional here; only a creation requires the name. */
const attributes = z.object({
  name: z.string().optional(),
  ...WORKSPACE_SETTINGS.body,
  'auto-destroy-activity-duration': text(255).nullish(),
  'auto-destroy-at': timeOrBlank.nullish(),
  'execution-mode': z.enum(EXECUTION_MODES).optional(),
  'iac-version': text(255).optional(),
  operations: z.boolean().optional(),
  'setting-overwrites': strictObject({
    'execution-mode': z.boolean().optional(),
    'agent-pool': z.boolean().optional(),
  }).optional(),
  'source-name': text(255).nullish(),
  'source-url': text(2_000).nullish(),
  'terraform-version': text(255).optional(),
  'trigger-patterns': paths.nullish(),
  'trigger-prefixes': paths.nullish(),
  'vcs-repo': vcsRepo.nullish(),
  'hyok-enabled': unsupportedMember('encryption with a key of yours is not built'),
  'migration-environment': unsupportedMember('there is no legacy environment to migrate from'),
});

const ownEndpoint = (name: string): string => `has its own endpoint, \`/workspaces/:id/relationships/${name}\``;

const related = {
  'agent-pool': toOneInput,
  project: toOneInput,
  tags: flatTagsInput.nullish(),
  'tag-bindings': tagBindingsInput,
  'remote-state-consumers': ignoredMember(ownEndpoint('remote-state-consumers')),
  'ssh-key': ignoredMember(ownEndpoint('ssh-key')),
};
const relationships = z.object(related).nullish();

const CREATE_ONLY = 'is set when the workspace is created';

export const createBody = resourceBody('workspaces', attributes.extend({ name: z.string() }), relationships);
export const updateBody = resourceBody(
  'workspaces',
  attributes
    .extend({ 'source-name': ignoredMember(CREATE_ONLY), 'source-url': ignoredMember(CREATE_ONLY) })
    .nullish()
    .transform((attributes): WorkspaceAttributes => attributes ?? {}),
  z.object({ ...related, tags: ignoredMember(ownEndpoint('tags'), flatTagsInput.nullish()) }).nullish(),
);

export const movedBody = identifiersBody('workspaces');

/** Parses the ids of workspaces to move. */
export const parseMovedWorkspaces = (body: unknown): readonly string[] =>
  parseBody(movedBody, body).data.map(({ id }) => id);

/** Seconds until a lock ends by itself. */
const leaseSeconds = z
  .int()
  .min(10)
  .max(7 * 24 * 60 * 60);

const lockMembers = z.object({ reason: text(10_000).nullish(), 'expires-in': leaseSeconds.nullish() });

/** The members are at the top level, in the attributes, or absent. */
export const lockBody = lockMembers.extend({
  data: z.object({ type: typeSchema('workspaces'), attributes: lockMembers.nullish() }).nullish(),
});

export const lockRenewalBody = z.object({ 'expires-in': leaseSeconds });

/** Not a relationship's body: the key is an attribute of the workspace. */
export const sshKeyBody = resourceBody('workspaces', z.object({ id: text(255).nullable() }));

type WorkspaceAttributes = z.infer<typeof attributes>;

/** Attributes that the schema accepts, in a body whose other attributes may be refused. */
type ValidAttributes = {
  readonly [A in Exclude<keyof WorkspaceAttributes, 'setting-overwrites'>]?: WorkspaceAttributes[A] | undefined;
};

/** `operations` is the legacy name of two execution modes. */
const toExecutionMode = (input: ValidAttributes): WorkspaceSettings['executionMode'] | undefined => {
  if (input.operations === undefined) return input['execution-mode'];
  if (input['execution-mode'] !== undefined) {
    throw unprocessable('Operations must not be given together with execution mode', 'operations');
  }
  return input.operations ? 'remote' : 'local';
};

const toOverwrites = ({ 'setting-overwrites': overwrites }: WorkspaceAttributes): OverwritesInput | undefined =>
  overwrites && omitUndefined({ executionMode: overwrites['execution-mode'], agentPool: overwrites['agent-pool'] });

/** Returns the attribute in which the request has the tool version: both are the same setting. */
const findVersionAttribute = (input: WorkspaceAttributes): 'iac-version' | 'terraform-version' =>
  input['terraform-version'] === undefined ? 'iac-version' : 'terraform-version';

const toVersion = (input: ValidAttributes): string | undefined => {
  const { 'iac-version': iac, 'terraform-version': terraform } = input;
  if (iac !== undefined && terraform !== undefined && iac !== terraform) {
    throw unprocessable('Iac version and Terraform version are one, and must not differ', 'iac-version');
  }
  return terraform ?? iac;
};

/** Returns a check of the requested tool version; its problem points to the attribute of the request. */
export const buildVersionCheck = (
  input: WorkspaceAttributes,
  releases: ToolReleases,
  running: string | undefined,
): { readonly findVersionProblem?: VersionCheck } => {
  const version = toVersion(input);
  if (version === undefined) return {};
  const name = findVersionAttribute(input);
  const findVersionProblem: VersionCheck = (site) => {
    const problem = releases.with(site).problemOf(version, running);
    return problem === null ? null : { detail: `${toLabel(name)} ${problem}`, pointer: `/data/attributes/${name}` };
  };
  return { findVersionProblem };
};

/** Patterns and prefixes exclude each other: a non-empty list of one clears the other. */
const toTriggers = (input: ValidAttributes): Pick<SettingsInput, 'triggerPatterns' | 'triggerPrefixes'> => {
  const patterns = input['trigger-patterns'] === null ? [] : input['trigger-patterns'];
  const prefixes = input['trigger-prefixes'] === null ? [] : input['trigger-prefixes'];
  if (patterns?.length && prefixes?.length) {
    throw unprocessable('Trigger patterns cannot be given together with trigger prefixes', 'trigger-patterns');
  }
  if (patterns?.length) return { triggerPatterns: patterns, triggerPrefixes: [] };
  if (prefixes?.length) return { triggerPatterns: [], triggerPrefixes: prefixes };
  return omitUndefined({ triggerPatterns: patterns, triggerPrefixes: prefixes });
};

const isEmptyObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0;

type WithOverwrites = ValidAttributes & { readonly 'setting-overwrites'?: unknown };

/**
 * Returns only the keys that the request has; clients send null for the default. An empty object names no repository
 * and is refused, with one exception: pytfe 1.5 sends `vcs-repo` and `setting-overwrites` with every request, and both
 * empty if the caller set neither.
 */
const toVcsRepo = (input: WithOverwrites): VcsRepoInput | null | undefined => {
  const repo = input['vcs-repo'];
  if (!repo) return repo;
  if (isEmptyObject(repo) && isEmptyObject(input['setting-overwrites'])) return undefined;
  if (isEmptyObject(repo)) throw unprocessable("Identifier can't be blank", 'vcs-repo/identifier');
  const installation = repo['vcs-app-installation-id'] ?? repo['github-app-installation-id'];
  const oauthToken = repo['oauth-token-id'];
  if (installation && oauthToken) {
    throw unprocessable('OAuth token and VCS app installation must not both be given', 'vcs-repo');
  }
  return omitUndefined({
    identifier: repo.identifier,
    oauthTokenId: oauthToken,
    vcsAppInstallationId: installation,
    branch: repo.branch === null ? '' : repo.branch,
    ingressSubmodules: repo['ingress-submodules'] === null ? false : repo['ingress-submodules'],
    tagsRegex: repo['tags-regex'],
  });
};

/** A blank text clears a setting, as null does. */
const toNullIfBlank = (text: string | null | undefined): string | null | undefined =>
  text === undefined ? undefined : text || null;

const destroyTime = (text: string | null | undefined): string | null | undefined =>
  text ? new Date(parseInstant(text) ?? Number.NaN).toISOString() : toNullIfBlank(text);

/** Checks single attributes and the rules between them; absent attributes are not checked. */
export const checkAttributes = (input: ValidAttributes): void =>
  runAllChecks(
    () => input.name !== undefined && checkName(input.name, NAME_RULE),
    () => checkAutoDestroyDuration(input['auto-destroy-activity-duration']),
    () => toExecutionMode(input),
    () => toTriggers(input),
    () => toVcsRepo(input),
    () => toVersion(input),
  );

/** Converts the attributes of a request to settings. The agent pool is given by its id, or as a relationship. */
export const toSettingsInput = (input: WorkspaceAttributes, related: z.infer<typeof relationships>): SettingsInput => ({
  ...WORKSPACE_SETTINGS.read(input),
  ...omitUndefined({
    agentPoolId: parseToOne(related?.['agent-pool'], input['agent-pool-id']),
    autoDestroyActivityDuration: toNullIfBlank(input['auto-destroy-activity-duration']),
    autoDestroyAt: destroyTime(input['auto-destroy-at']),
    executionMode: toExecutionMode(input),
    settingOverwrites: toOverwrites(input),
    terraformVersion: toVersion(input),
    vcsRepo: toVcsRepo(input),
  }),
  ...toTriggers(input),
});

/** The origin is set by the creation only. */
const toOriginSettings = (input: WorkspaceAttributes): Partial<WorkspaceSettings> =>
  omitUndefined({ sourceName: input['source-name'], sourceUrl: input['source-url'] });

/** Returns the tags of a new workspace, flat ones and bindings. Refuses those that no workspace can have. */
export const toRequestedTags = (related: z.infer<typeof relationships>) =>
  collectRefusals(
    () => ({
      flatTags: parseFlatTags(related?.tags ?? { data: [] }),
      bindings: toBindings(related?.['tag-bindings']) ?? [],
    }),
    () => toBindings(related?.['tag-bindings']),
  );

/** Converts the body of a creation. The decider checks the name. */
export const toNewWorkspace = (
  input: z.infer<typeof createBody>['data']['attributes'],
  related: z.infer<typeof relationships>,
) => ({
  name: input.name,
  project: related?.project?.data?.id || null,
  settings: { ...toSettingsInput(input, related), ...toOriginSettings(input) },
  ...toRequestedTags(related),
});

/** The attributes that decide which commits start runs. Absent ones keep their values. */
export const triggerAttributes = attributes.pick({
  'file-triggers-enabled': true,
  'queue-all-runs': true,
  'trigger-patterns': true,
  'trigger-prefixes': true,
  'vcs-repo': true,
  'working-directory': true,
});

/** Returns the settings that a workspace would have with these attributes, by the rules of a change. */
export const resolveTriggers = (before: WorkspaceSettings, input: WorkspaceAttributes): WorkspaceSettings => {
  checkAttributes(input);
  return { ...before, ...resolveSettingChanges(before, toSettingsInput(input, undefined)) };
};
