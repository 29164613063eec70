import type { TriggerInput } from '../../api/commit-previews.js';
import type { WorkspaceInput } from '../../api/workspace-settings.js';
import type { Workspace } from '../../api/workspaces.js';
import type { useSettings } from '../../components/settings-card.js';

type Repository = NonNullable<Workspace['attributes']['vcs-repo']>;

const NO_REPOSITORY = {
  identifier: '',
  branch: '',
  'oauth-token-id': null,
  'github-app-installation-id': null,
  'tags-regex': null,
  'ingress-submodules': false,
} satisfies Partial<Repository>;

/** The names of the fields are those of the API, also those of the repository. */
export const readRepository = ({ attributes }: Workspace) => {
  const repository: Pick<Repository, keyof typeof NO_REPOSITORY> = attributes['vcs-repo'] ?? NO_REPOSITORY;
  return {
    identifier: repository.identifier,
    branch: repository.branch,
    'oauth-token-id': repository['oauth-token-id'] ?? '',
    'github-app-installation-id': repository['github-app-installation-id'] ?? '',
    'tags-regex': repository['tags-regex'] ?? '',
    'ingress-submodules': repository['ingress-submodules'],
    'file-triggers-enabled': attributes['file-triggers-enabled'],
    'trigger-patterns': attributes['trigger-patterns'].join('\n'),
    'trigger-prefixes': attributes['trigger-prefixes'].join('\n'),
    'queue-all-runs': attributes['queue-all-runs'],
    'speculative-enabled': attributes['speculative-enabled'],
    'auto-apply-run-trigger': attributes['auto-apply-run-trigger'],
  };
};

type RepositoryValues = ReturnType<typeof readRepository>;

const REPOSITORY = [
  'identifier',
  'branch',
  'oauth-token-id',
  'github-app-installation-id',
  'tags-regex',
  'ingress-submodules',
] as const;

const toLines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** Returns the repository after the changes. Without any text, there is none. */
const toRepository = (after: RepositoryValues): NonNullable<WorkspaceInput['vcs-repo']> | null => {
  const texts = [after.identifier, after.branch, after['oauth-token-id'], after['github-app-installation-id']];
  if (texts.every((text) => text === '')) return null;
  return {
    identifier: after.identifier,
    branch: after.branch,
    'oauth-token-id': after['oauth-token-id'] || null,
    'github-app-installation-id': after['github-app-installation-id'] || null,
    'tags-regex': after['tags-regex'] || null,
    'ingress-submodules': after['ingress-submodules'],
  };
};

/** Returns what a request changes. */
export const toInput = (present: RepositoryValues, changes: Partial<RepositoryValues>): WorkspaceInput => {
  const { 'trigger-patterns': patterns, 'trigger-prefixes': prefixes } = changes;
  const others = Object.fromEntries(
    (['file-triggers-enabled', 'queue-all-runs', 'speculative-enabled', 'auto-apply-run-trigger'] as const).flatMap(
      (name) => (changes[name] === undefined ? [] : [[name, changes[name]]]),
    ),
  );
  return {
    ...others,
    ...(patterns === undefined ? {} : { 'trigger-patterns': toLines(patterns) }),
    ...(prefixes === undefined ? {} : { 'trigger-prefixes': toLines(prefixes) }),
    ...(REPOSITORY.some((name) => name in changes) ? { 'vcs-repo': toRepository({ ...present, ...changes }) } : {}),
  };
};

/** Returns the triggers that a preview is about: all of them, as they are entered. */
export const toPreviewInput = (present: RepositoryValues, entered: RepositoryValues): TriggerInput => {
  const { 'auto-apply-run-trigger': _, 'speculative-enabled': __, ...input } = toInput(present, entered);
  return input;
};

export type RepositoryForm = ReturnType<typeof useSettings<RepositoryValues>>;
