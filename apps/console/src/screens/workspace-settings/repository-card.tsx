import { Checkbox, Textarea } from '@mantine/core';
import { useUpdateWorkspace } from '../../api/workspace-settings.js';
import { SettingsCard, useSettings } from '../../components/settings-card.js';
import { CommitPreviewField } from './commit-preview-field.js';
import { RepositoryFields } from './repository-fields.js';
import { readRepository, toInput, toPreviewInput, type RepositoryForm } from './repository-form.js';
import { CHANGERS, type WorkspaceCardProps } from './setting-card.js';

const TriggerFields = ({ form }: { readonly form: RepositoryForm }) => (
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
      description="The first commit starts a run too. Otherwise, commits start runs after a person has queued one."
      {...form.checkbox('queue-all-runs')}
    />
    <Checkbox
      label="Plan pull requests"
      description="Pull requests to the branch get a plan that nobody can apply. Pull requests of forks get none."
      {...form.checkbox('speculative-enabled')}
    />
    <Checkbox
      label="Apply runs of run triggers automatically"
      description="Otherwise a person confirms the plans of runs that applies of other workspaces start."
      {...form.checkbox('auto-apply-run-trigger')}
    />
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
      <RepositoryFields organization={organization} form={form} />
      <TriggerFields form={form} />
      {permissions['can-update'] && form.trimmed.identifier !== '' && (
        <CommitPreviewField workspace={workspace.data.id} entered={toPreviewInput(present, form.trimmed)} />
      )}
    </SettingsCard>
  );
};
