import { TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import type { AgentPool } from '../../api/agent-pools.js';
import { useCreateSitePool, useDeleteSitePool } from '../../api/site-executors.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { useForm } from '../../components/form.js';
import { FormDialog } from '../../components/form-dialog.js';
import { reportAndClose, showToast } from '../../toasts.js';

export const CreateSitePoolDialog = ({ onClose }: { readonly onClose: () => void }) => {
  const navigate = useNavigate();
  const creation = useCreateSitePool();
  const form = useForm({ name: '' }, creation);
  const { name } = form.trimmed;
  const onSuccess = ({ id }: AgentPool) => {
    showToast({ kind: 'success', message: `The pool ${name} is created.` });
    onClose();
    void navigate({ to: '/~site/executors/$pool', params: { pool: id } });
  };
  return (
    <FormDialog
      title="New pool of the site"
      action="Create"
      form={form}
      onSubmit={() => creation.mutate(name, { onSuccess })}
      onClose={onClose}
    >
      <TextInput label="Name" required data-autofocus {...form.text('name')} />
    </FormDialog>
  );
};

export const DeleteSitePoolDialog = ({
  pool: { id, attributes },
  onClose,
}: {
  readonly pool: AgentPool;
  readonly onClose: () => void;
}) => {
  const navigate = useNavigate();
  const deletion = useDeleteSitePool();
  const leave = () => {
    onClose();
    void navigate({ to: '/~site/executors' });
  };
  return (
    <ConfirmDialog
      title={`Delete the pool ${attributes.name}`}
      action="Delete"
      typed={attributes.name}
      change={deletion}
      onConfirm={() => deletion.mutate(id, reportAndClose(`The pool ${attributes.name} is deleted.`, leave))}
      onClose={onClose}
    >
      Its tokens end at once, so its executors stop. If the site has no other pool, remote runs of most organizations
      wait.
    </ConfirmDialog>
  );
};
