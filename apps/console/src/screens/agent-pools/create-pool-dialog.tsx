import { Radio, Stack, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useCreateAgentPool } from '../../api/agent-pool-changes.js';
import type { AgentPool } from '../../api/agent-pools.js';
import { useForm } from '../../components/form.js';
import { FormDialog } from '../../components/form-dialog.js';
import { showToast } from '../../toasts.js';

const ALL = 'all';
const ALLOWED = 'allowed';

type DialogProps = { readonly organization: string; readonly onClose: () => void };

export const CreatePoolDialog = ({ organization, onClose }: DialogProps) => {
  const navigate = useNavigate();
  const creation = useCreateAgentPool(organization);
  const form = useForm({ name: '', 'organization-scoped': ALL }, creation);
  const { name, 'organization-scoped': scope } = form.trimmed;
  const onSuccess = ({ id }: AgentPool) => {
    showToast({ kind: 'success', message: `The agent pool ${name} is created.` });
    onClose();
    void navigate({ to: '/$organization/settings/agent-pools/$pool', params: { organization, pool: id } });
  };
  return (
    <FormDialog
      title="New agent pool"
      action="Create"
      form={form}
      onSubmit={() => creation.mutate({ name, 'organization-scoped': scope === ALL }, { onSuccess })}
      onClose={onClose}
    >
      <TextInput label="Name" required data-autofocus {...form.text('name')} />
      <Radio.Group label="May be used by" {...form.choice('organization-scoped')}>
        <Stack gap="xs" mt="xs">
          <Radio value={ALL} label="All workspaces of the organization" />
          <Radio value={ALLOWED} label="Workspaces and projects that you choose next" />
        </Stack>
      </Radio.Group>
    </FormDialog>
  );
};
