import { Checkbox } from '@mantine/core';
import { useUpdateWorkspace } from '../../api/workspace-settings.js';
import { SettingsCard, useSettings } from '../../components/settings-card.js';
import { CHANGERS, type WorkspaceCardProps } from './setting-card.js';

/** The format of logs, and health assessments. */
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
      <Checkbox
        label="Structured run output"
        description="Executors should write logs as lines of JSON, which the CLI renders."
        {...form.checkbox('structured-run-output-enabled')}
      />
      {attributes['assessments-enabled'] !== undefined && (
        <Checkbox
          label="Health assessments"
          description="Once a day, an executor finds resources that have drifted and checks that fail. It changes nothing."
          {...form.checkbox('assessments-enabled')}
        />
      )}
    </SettingsCard>
  );
};
