import { Button, Select, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { isDenied } from '../../api/api-error.js';
import { sshKeyNamesQuery, useAssignSshKey } from '../../api/workspace-ssh-key.js';
import { SettingsCard, useSettings } from '../../components/settings-card.js';
import { ErrorState, LoadingLines } from '../../components/states.js';
import { CHANGERS, type WorkspaceCardProps } from './setting-card.js';

const NO_KEY = '';

type KeyFieldProps = {
  readonly organization: string;
  readonly field: { readonly value: string; readonly error: string | null; readonly onChange: (key: string) => void };
};

/** The keys are read when the person asks for them, because the audit trail records it. */
const KeyField = ({ organization, field }: KeyFieldProps) => {
  const { data, error, refetch } = useQuery(sshKeyNamesQuery(organization));
  if (isDenied(error)) {
    return (
      <Text size="sm">
        You may not see the keys of the organization. Ask somebody who may manage all workspaces to assign one.
      </Text>
    );
  }
  if (!data) return error ? <ErrorState error={error} onRetry={() => void refetch()} /> : <LoadingLines count={2} />;
  return (
    <Select
      label="SSH key"
      allowDeselect={false}
      searchable
      data={[{ value: NO_KEY, label: 'No key' }, ...data.map(({ id, name }) => ({ value: id, label: name }))]}
      value={field.value}
      error={field.error}
      onChange={(value) => field.onChange(value ?? NO_KEY)}
    />
  );
};

/** The key that the workspace has for modules in Git repositories. */
export const SshKeyCard = ({ organization, workspace }: WorkspaceCardProps) => {
  const [isOpen, setOpen] = useState(false);
  const { mutate, ...state } = useAssignSshKey(organization, workspace.data);
  const key = workspace.data.relationships['ssh-key'].data?.id ?? NO_KEY;
  const form = useSettings({ id: key }, { ...state, mutate: ({ id }, callbacks) => mutate(id || null, callbacks) });
  const canChange = workspace.data.attributes.permissions['can-update'];
  return (
    <SettingsCard title="SSH key" form={form} canChange={canChange} reason={CHANGERS}>
      <Text size="sm">
        A key for modules in private Git repositories. Cadastre does not give it to executors.{' '}
        {key === NO_KEY ? 'The workspace has no key.' : 'The workspace has a key.'}
      </Text>
      {isOpen && <KeyField organization={organization} field={form.choice('id')} />}
      {canChange && !isOpen && (
        <div>
          <Button variant="default" onClick={() => setOpen(true)}>
            Choose a key
          </Button>
        </div>
      )}
    </SettingsCard>
  );
};
