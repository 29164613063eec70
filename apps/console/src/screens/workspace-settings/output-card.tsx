import { Checkbox } from '@mantine/core';
import { useUpdateWorkspace } from '../../api/workspace-settings.js';
import { SettingsCard, useSettings } from '../../components/settings-card.js';
import { CHANGERS, type WorkspaceCardProps } from './setting-card.js';
import { StoredNote } from './stored-note.js';

/** Settings about what other clients show. */
export const OutputCard = ({ organization, workspace }: WorkspaceCardProps) => {
  const { attributes } = workspace.data;
  const { mutate, ...state } = useUpdateWorkspace(organization, workspace.data);
  const present = {
    'structured-run-output-enabled': attributes['structured-run-output-enabled'],
    'assessments-enabled': attributes['assessments-enabled'] ?? false,
  };
  const form = useSettings(present, {
    ...state,
    mutate: (changes, callbacks) => mutate({ attributes: changes }, callbacks),
  });
  return (
    <SettingsCard
      title="Run output and health"
      form={form}
      canChange={attributes.permissions['can-update']}
      reason={CHANGERS}
    >
      <StoredNote>Cadastre shows no logs of runs, and makes no health assessments.</StoredNote>
      <Checkbox label="Structured run output" {...form.checkbox('structured-run-output-enabled')} />
      {attributes['assessments-enabled'] !== undefined && (
        <Checkbox label="Health assessments" {...form.checkbox('assessments-enabled')} />
      )}
    </SettingsCard>
  );
};
