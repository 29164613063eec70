import { Checkbox, Textarea, TextInput } from '@mantine/core';
import { useUpdateWorkspace, type WorkspaceInput } from '../../api/workspace-settings.js';
import type { Workspace } from '../../api/workspaces.js';
import { SettingsCard, useSettings } from '../../components/settings-card.js';
import { CHANGERS, type WorkspaceCardProps } from './setting-card.js';
import { StoredNote } from './stored-note.js';

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
const readRepository = ({ attributes }: Workspace) => {
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

const toInput = (present: RepositoryValues, changes: Partial<RepositoryValues>): WorkspaceInput => {
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

type Form = ReturnType<typeof useSettings<RepositoryValues>>;

const RepositoryFields = ({ form }: { readonly form: Form }) => (
  <>
    <TextInput
      label="Repository"
      description="Such as acme/network. Empty: the workspace has no repository."
      spellCheck={false}
      {...form.text('identifier')}
    />
    <TextInput label="Branch" description="Empty: the default branch." spellCheck={false} {...form.text('branch')} />
    <TextInput
      label="Id of the OAuth token"
      description="Such as ot-…"
      spellCheck={false}
      {...form.text('oauth-token-id')}
    />
    <TextInput
      label="Id of the GitHub app installation"
      description="Such as ghain-…, instead of an OAuth token."
      spellCheck={false}
      {...form.text('github-app-installation-id')}
    />
    <TextInput
      label="Regular expression of tags"
      description="Only tags that match it start runs."
      spellCheck={false}
      {...form.text('tags-regex')}
    />
    <Checkbox label="Include submodules" {...form.checkbox('ingress-submodules')} />
  </>
);

const TriggerFields = ({ form }: { readonly form: Form }) => (
  <>
    <Checkbox
      label="Start runs only for some files"
      description="Those of the working directory, and of the patterns or prefixes below."
      {...form.checkbox('file-triggers-enabled')}
    />
    <Textarea
      label="Trigger patterns"
      description="Such as /modules/**/*.tf, one a line. They replace the prefixes."
      autosize
      minRows={2}
      maxRows={10}
      {...form.text('trigger-patterns')}
    />
    <Textarea
      label="Trigger prefixes"
      description="Such as modules, one a line. They replace the patterns."
      autosize
      minRows={2}
      maxRows={10}
      {...form.text('trigger-prefixes')}
    />
    <Checkbox
      label="Queue all runs"
      description="Runs also start before the first run that a person queues."
      {...form.checkbox('queue-all-runs')}
    />
    <Checkbox label="Plan pull requests" {...form.checkbox('speculative-enabled')} />
    <Checkbox label="Apply runs of run triggers automatically" {...form.checkbox('auto-apply-run-trigger')} />
  </>
);

/** The repository of the configuration, and what starts runs. */
export const RepositoryCard = ({ organization, workspace }: WorkspaceCardProps) => {
  const { mutate, ...state } = useUpdateWorkspace(organization, workspace.data);
  const present = readRepository(workspace.data);
  const form = useSettings(present, {
    ...state,
    mutate: (changes, callbacks) => mutate({ attributes: toInput(present, changes) }, callbacks),
  });
  const { permissions } = workspace.data.attributes;
  return (
    <SettingsCard title="Repository and triggers" form={form} canChange={permissions['can-update']} reason={CHANGERS}>
      <StoredNote>Cadastre watches no repository and starts no runs.</StoredNote>
      <RepositoryFields form={form} />
      <TriggerFields form={form} />
    </SettingsCard>
  );
};
