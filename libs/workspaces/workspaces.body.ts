import { z } from 'zod';
import { checkAll, checkAutoDestroyDuration, checkName, labelOf, unprocessable, type Problem } from '#kernel';
import {
  closedMap,
  given,
  identifiersBody,
  ignored,
  kept,
  parseBody,
  refused,
  resourceBody,
  text,
  toOneInput,
  toOneOf,
  typeOf,
  valuesOf,
} from '#json-api';
import { NAME } from './settings.js';
import type { OverwritesInput, SettingsInput, VcsRepoInput, WorkspaceSettings } from './workspace-settings.js';
import { flatTagsInput, tagBindingsInput } from '#tag-bindings';
import type { ToolReleases } from './tool-releases.catalogue.js';

/** Characters of all paths of a workspace together: lists show up to 100 workspaces with theirs. */
const PATHS_LENGTH = 20_000;

const paths = z
  .array(text(500))
  .max(200, { error: 'too many, at most 200 of them' })
  .refine((texts) => texts.join('').length <= PATHS_LENGTH, {
    error: `Paths: too long, at most ${PATHS_LENGTH} characters in all of them together`,
  });

const vcsRepo = z.object({
  identifier: text(500).optional(),
  'oauth-token-id': text(500).nullish(),
  'vcs-app-installation-id': text(500).nullish(),
  'github-app-installation-id': text(500).nullish(),
  branch: text(500).nullish(),
  'ingress-submodules': z.boolean().nullish(),
  'tags-regex': text(500).nullish(),
});

const time = z.iso.datetime({ offset: true });
/** In UTC it may be in a year of six digits, at either end of time: no client reads that, nor what stands beside it. */
const isTime = (text: string): boolean => time.safeParse(text).success && /^\d{4}-/.test(new Date(text).toISOString());
const timeOrBlank = z
  .string()
  .refine((text) => text === '' || isTime(text), 'Auto destroy at must be an ISO 8601 time');

/** Attributes that are settings as they stand, under the API's names. */
const plain = z.object({
  'agent-pool-id': text(255).nullish(),
  'allow-destroy-plan': z.boolean().optional(),
  'assessments-enabled': kept(z.boolean().optional()),
  'auto-apply': z.boolean().optional(),
  'auto-apply-run-trigger': kept(z.boolean().optional()),
  description: text(10_000).nullish(),
  'file-triggers-enabled': kept(z.boolean().optional()),
  'global-remote-state': z.boolean().optional(),
  'inherits-project-auto-destroy': kept(z.boolean().optional()),
  'project-remote-state': z.boolean().optional(),
  'queue-all-runs': kept(z.boolean().optional()),
  'speculative-enabled': kept(z.boolean().optional()),
  'structured-run-output-enabled': kept(z.boolean().optional()),
  'working-directory': kept(text(1_000).nullish()),
});

/** The attributes of both request tables (contract §4.3); all optional here, a name is asked for on create. */
const attributes = z.object({
  name: z.string().optional(),
  ...plain.shape,
  'auto-destroy-activity-duration': kept(text(255).nullish()),
  'auto-destroy-at': kept(timeOrBlank.nullish()),
  'execution-mode': z.enum(['remote', 'local', 'agent']).optional(),
  'iac-version': text(255).optional(),
  operations: z.boolean().optional(),
  'setting-overwrites': closedMap({
    'execution-mode': z.boolean().optional(),
    'agent-pool': z.boolean().optional(),
  }).optional(),
  'source-name': text(255).nullish(),
  'source-url': text(2_000).nullish(),
  'terraform-version': text(255).optional(),
  'trigger-patterns': kept(paths.nullish()),
  'trigger-prefixes': kept(paths.nullish()),
  'vcs-repo': kept(vcsRepo.nullish()),
  'hyok-enabled': refused('encryption with a key of yours is not built'),
  'migration-environment': refused('there is no legacy environment to migrate from'),
});

const ownEndpoint = (name: string): string => `has its own endpoint, \`/workspaces/:id/relationships/${name}\``;

const related = {
  'agent-pool': toOneInput,
  project: toOneInput,
  tags: flatTagsInput.nullish(),
  'tag-bindings': tagBindingsInput,
  'remote-state-consumers': ignored(ownEndpoint('remote-state-consumers')),
  'ssh-key': ignored(ownEndpoint('ssh-key')),
};
const relationships = z.object(related).nullish();

const SAID_ONCE = 'is set when the workspace is created';

export const createBody = resourceBody('workspaces', attributes.extend({ name: z.string() }), relationships);
export const updateBody = resourceBody(
  'workspaces',
  attributes
    .extend({ 'source-name': ignored(SAID_ONCE), 'source-url': ignored(SAID_ONCE) })
    .nullish()
    .transform((given): Attributes => given ?? {}),
  z.object({ ...related, tags: ignored(ownEndpoint('tags'), flatTagsInput.nullish()) }).nullish(),
);

export const movedBody = identifiersBody('workspaces');

/** The ids of workspaces that are to move. */
export const movedIn = (body: unknown): readonly string[] => parseBody(movedBody, body).data.map(({ id }) => id);

/** `reason` at the top, or in the attributes, or nothing at all (clients.md §1). */
export const lockBody = z.object({
  reason: text(10_000).nullish(),
  data: z
    .object({ type: typeOf('workspaces'), attributes: z.object({ reason: text(10_000).nullish() }).nullish() })
    .nullish(),
});

/** Not a relationship's body: the key is an attribute of the workspace there (contract §4.3). */
export const sshKeyBody = resourceBody('workspaces', z.object({ id: text(255).nullable() }));

type Attributes = z.infer<typeof attributes>;

/** Attributes that the schema accepts, of a body in which it may refuse others. */
type SoundAttributes = {
  readonly [A in Exclude<keyof Attributes, 'setting-overwrites'>]?: Attributes[A] | undefined;
};

/** `operations` is the old name for two of the execution modes. */
const modeOf = (input: SoundAttributes): WorkspaceSettings['executionMode'] | undefined => {
  if (input.operations === undefined) return input['execution-mode'];
  if (input['execution-mode'] !== undefined) {
    throw unprocessable('Operations must not be given together with execution mode', 'operations');
  }
  return input.operations ? 'remote' : 'local';
};

const overwritesOf = ({ 'setting-overwrites': said }: Attributes): OverwritesInput | undefined =>
  said && given({ executionMode: said['execution-mode'], agentPool: said['agent-pool'] });

/** The name by which a request calls the tool's version: both are the same attribute (clients.md §1). */
const versionNamed = (input: Attributes): 'iac-version' | 'terraform-version' =>
  input['terraform-version'] === undefined ? 'iac-version' : 'terraform-version';

const versionOf = (input: SoundAttributes): string | undefined => {
  const { 'iac-version': iac, 'terraform-version': terraform } = input;
  if (iac !== undefined && terraform !== undefined && iac !== terraform) {
    throw unprocessable('Iac version and Terraform version are one, and must not differ', 'iac-version');
  }
  return terraform ?? iac;
};

/** What is wrong with the version that is named, said of the attribute by which it is. */
export const versionProblemOf = (
  input: Attributes,
  releases: ToolReleases,
  running: string | undefined,
): { readonly versionProblem?: Problem } => {
  const version = versionOf(input);
  const problem = version === undefined ? null : releases.problemOf(version, running);
  if (problem === null) return {};
  const name = versionNamed(input);
  return { versionProblem: { detail: `${labelOf(name)} ${problem}`, pointer: `/data/attributes/${name}` } };
};

/** Patterns and prefixes exclude one another: giving one that is not empty clears the other (clients.md §3). */
const triggersOf = (input: SoundAttributes): Pick<SettingsInput, 'triggerPatterns' | 'triggerPrefixes'> => {
  const patterns = input['trigger-patterns'] === null ? [] : input['trigger-patterns'];
  const prefixes = input['trigger-prefixes'] === null ? [] : input['trigger-prefixes'];
  if (patterns?.length && prefixes?.length) {
    throw unprocessable('Trigger patterns cannot be given together with trigger prefixes', 'trigger-patterns');
  }
  if (patterns?.length) return { triggerPatterns: patterns, triggerPrefixes: [] };
  if (prefixes?.length) return { triggerPatterns: [], triggerPrefixes: prefixes };
  return given({ triggerPatterns: patterns, triggerPrefixes: prefixes });
};

const isEmptyObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0;

type WithOverwrites = SoundAttributes & { readonly 'setting-overwrites'?: unknown };

/**
 * Returns only the keys that the request has; clients send null for the default. An empty object names no repository
 * and is refused, with one exception: pytfe 1.5 sends `vcs-repo` and `setting-overwrites` with every request, and both
 * empty if the caller gave neither.
 */
const vcsRepoOf = (input: WithOverwrites): VcsRepoInput | null | undefined => {
  const repo = input['vcs-repo'];
  if (!repo) return repo;
  if (isEmptyObject(repo) && isEmptyObject(input['setting-overwrites'])) return undefined;
  if (isEmptyObject(repo)) throw unprocessable("Identifier can't be blank", 'vcs-repo/identifier');
  const installation = repo['vcs-app-installation-id'] ?? repo['github-app-installation-id'];
  const oauthToken = repo['oauth-token-id'];
  if (installation && oauthToken) {
    throw unprocessable('OAuth token and VCS app installation must not both be given', 'vcs-repo');
  }
  return given({
    identifier: repo.identifier,
    oauthTokenId: oauthToken,
    vcsAppInstallationId: installation,
    branch: repo.branch === null ? '' : repo.branch,
    ingressSubmodules: repo['ingress-submodules'] === null ? false : repo['ingress-submodules'],
    tagsRegex: repo['tags-regex'],
  });
};

/** Blank clears, like null. */
const clearedBy = (text: string | null | undefined): string | null | undefined =>
  text === undefined ? undefined : text || null;

const destroyTime = (text: string | null | undefined): string | null | undefined =>
  text ? new Date(text).toISOString() : clearedBy(text);

/** The rules between the attributes of one request, and those for single attributes; absent ones are not checked. */
export const checkAttributes = (input: SoundAttributes): void =>
  checkAll(
    () => input.name !== undefined && checkName(input.name, NAME),
    () => checkAutoDestroyDuration(input['auto-destroy-activity-duration']),
    () => modeOf(input),
    () => triggersOf(input),
    () => vcsRepoOf(input),
    () => versionOf(input),
  );

/** What a request changes, in our names. The agent pool is named by its id, or as a relationship. */
export const settingsOf = (input: Attributes, related: z.infer<typeof relationships>): SettingsInput => ({
  ...valuesOf(plain.parse(input)),
  ...given({
    agentPoolId: toOneOf(related?.['agent-pool'], input['agent-pool-id']),
    autoDestroyActivityDuration: clearedBy(input['auto-destroy-activity-duration']),
    autoDestroyAt: destroyTime(input['auto-destroy-at']),
    executionMode: modeOf(input),
    settingOverwrites: overwritesOf(input),
    terraformVersion: versionOf(input),
    vcsRepo: vcsRepoOf(input),
  }),
  ...triggersOf(input),
});

/** Where it came from is said once, on create. */
export const originOf = (input: Attributes): Partial<WorkspaceSettings> =>
  given({ sourceName: input['source-name'], sourceUrl: input['source-url'] });
