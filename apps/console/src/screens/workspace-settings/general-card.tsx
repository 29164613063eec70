import { Textarea, TextInput } from '@mantine/core';
import { useUpdateWorkspace } from '../../api/workspace-settings.js';
import { SettingsCard, useSettings } from '../../components/settings-card.js';
import { CHANGERS, type WorkspaceCardProps } from './setting-card.js';

export const GeneralCard = ({ organization, workspace }: WorkspaceCardProps) => {
  const { attributes } = workspace.data;
  const { mutate, ...state } = useUpdateWorkspace(organization, workspace.data);
  const present = { name: attributes.name, description: attributes.description ?? '' };
  const form = useSettings(present, {
    ...state,
    mutate: (changes, callbacks) => mutate({ attributes: changes }, callbacks),
  });
  return (
    <SettingsCard title="General" form={form} canChange={attributes.permissions['can-update']} reason={CHANGERS}>
      <TextInput
        label="Name"
        description="Configurations name the workspace in their cloud block. After a new name, change it there too."
        required
        spellCheck={false}
        {...form.text('name')}
      />
      <Textarea label="Description" autosize minRows={2} maxRows={8} {...form.text('description')} />
    </SettingsCard>
  );
};
