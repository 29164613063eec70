import { Alert, Select, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { namedConsumersQuery, useChangeSharing } from '../../api/remote-state-consumers.js';
import { getSharing, type StateSharing } from '../../api/shared-states.js';
import { formatCount } from '../../components/counts.js';
import { useForm } from '../../components/form.js';
import { SettingsCard } from '../../components/settings-card.js';
import { TextLink } from '../../components/text-link.js';
import { showToast } from '../../toasts.js';
import { ConsumerList } from './consumer-list.js';
import { CHANGERS, type WorkspaceCardProps } from './setting-card.js';

const SHARING_LABELS: Readonly<Record<StateSharing, string>> = {
  names: 'Only the workspaces in the list',
  project: 'All workspaces of the project',
  organization: 'All workspaces of the organization',
};

/** The form of the card. Its undo also restores the list, which the server forgets. */
const useSharingForm = ({ organization, workspace }: WorkspaceCardProps) => {
  const present = getSharing(workspace.data);
  const change = useChangeSharing(organization, workspace.data, present);
  const form = useForm({ sharing: present }, change);
  const finish = (message: string, undo?: () => void): void => {
    form.reset();
    showToast({ kind: 'success', message, undo });
  };
  const restore = (former: Parameters<typeof change.mutate>[0]): void =>
    change.mutate(former, { onSuccess: () => finish('The former settings are back.') });
  const save = (): void =>
    change.mutate(
      { sharing: form.values.sharing, consumers: [] },
      { onSuccess: (former) => finish('Saved.', () => restore(former)) },
    );
  return { ...form, fields: [], isChanged: form.values.sharing !== present, present, save };
};

/** The workspaces whose runs may read the state of this one. */
export const SharingCard = ({ organization, workspace }: WorkspaceCardProps) => {
  const form = useSharingForm({ organization, workspace });
  const { data } = useInfiniteQuery(namedConsumersQuery(organization, workspace.data));
  const consumerCount = data?.pages[0]?.meta.pagination['total-count'] ?? 0;
  const { name, permissions } = workspace.data.attributes;
  return (
    <SettingsCard title="Remote state sharing" form={form} canChange={permissions['can-update']} reason={CHANGERS}>
      <Select
        label="Runs that may read the state"
        description="Runs of this workspace always may. People read the state by the access of their teams."
        allowDeselect={false}
        data={Object.entries(SHARING_LABELS).map(([value, label]) => ({ value, label }))}
        value={form.values.sharing}
        onChange={(value) => form.enter({ sharing: value as StateSharing })}
      />
      {form.isChanged && form.values.sharing !== 'names' && consumerCount > 0 && (
        <Alert color="yellow" variant="light" role="status">
          The list of {formatCount(consumerCount, 'workspace')} becomes empty.
        </Alert>
      )}
      {form.present === 'names' && <ConsumerList organization={organization} workspace={workspace} />}
      <Text size="sm">
        <TextLink to="/$organization/workspaces/$workspace/state" params={{ organization, workspace: name }}>
          Graph of shared states
        </TextLink>
      </Text>
    </SettingsCard>
  );
};
