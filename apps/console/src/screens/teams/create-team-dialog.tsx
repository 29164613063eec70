import { Radio, Stack, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useCreateTeam } from '../../api/teams.js';
import { useForm } from '../../components/form.js';
import { FormDialog } from '../../components/form-dialog.js';
import { showToast } from '../../toasts.js';

type DialogProps = { readonly organization: string; readonly onClose: () => void };

export const CreateTeamDialog = ({ organization, onClose }: DialogProps) => {
  const navigate = useNavigate();
  const creation = useCreateTeam(organization);
  const form = useForm<{ name: string; visibility: 'secret' | 'organization' }>(
    { name: '', visibility: 'organization' },
    creation,
  );
  const create = () => {
    const onSuccess = ({ id }: { readonly id: string }) => {
      showToast({ kind: 'success', message: `The team ${form.values.name} is created.` });
      void navigate({ to: `/${organization}/teams/${id}` });
    };
    creation.mutate(form.values, { onSuccess });
  };
  return (
    <FormDialog title="New team" action="Create" form={form} onSubmit={create} onClose={onClose}>
      <TextInput label="Name" required data-autofocus {...form.text('name')} />
      <Radio.Group label="Visible to" {...form.choice('visibility')}>
        <Stack gap="xs" mt="xs">
          <Radio value="organization" label="Every member of the organization" />
          <Radio value="secret" label="Its members and owners only" />
        </Stack>
      </Radio.Group>
    </FormDialog>
  );
};
