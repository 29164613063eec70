import { Radio, Stack } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useCreateTeam } from '../../api/teams.js';
import { FormDialog } from '../../components/form-dialog.js';
import { NameField } from '../../components/name-field.js';
import { showToast } from '../../components/toasts.js';

type DialogProps = { readonly organization: string; readonly onClose: () => void };

export const CreateTeamDialog = ({ organization, onClose }: DialogProps) => {
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const [visibility, setVisibility] = useState<'secret' | 'organization'>('organization');
  const creation = useCreateTeam(organization);
  const create = () => {
    const onSuccess = ({ id }: { readonly id: string }) => {
      showToast({ kind: 'success', message: `The team ${name} is created.` });
      void navigate({ to: `/${organization}/teams/${id}` });
    };
    creation.mutate({ name, visibility }, { onSuccess });
  };
  return (
    <FormDialog
      title="New team"
      action="Create"
      isPending={creation.isPending}
      error={creation.error}
      fields={['name']}
      onSubmit={create}
      onClose={onClose}
    >
      <NameField value={name} error={creation.error} onChange={setName} />
      <Radio.Group
        label="Visible to"
        value={visibility}
        onChange={(value) => setVisibility(value === 'secret' ? 'secret' : 'organization')}
      >
        <Stack gap="xs" mt="xs">
          <Radio value="organization" label="Every member of the organization" />
          <Radio value="secret" label="Its members and owners only" />
        </Stack>
      </Radio.Group>
    </FormDialog>
  );
};
