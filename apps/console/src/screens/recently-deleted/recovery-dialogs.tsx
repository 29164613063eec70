import { Text, TextInput } from '@mantine/core';
import { usePurgeItem, useRecoverItem, type RecoverableItem } from '../../api/recoverable-items.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { FormDialog } from '../../components/form-dialog.js';
import { useForm } from '../../components/form.js';
import { reportAndClose, showToast } from '../../toasts.js';
import { KINDS } from './kinds.js';

type ItemDialogProps = {
  readonly organization: string;
  readonly item: RecoverableItem;
  readonly onClose: () => void;
};

/** Recovers a resource. The person can enter another name, for example if the name is taken. */
export const RecoverDialog = ({ organization, item, onClose }: ItemDialogProps) => {
  const change = useRecoverItem(organization);
  const form = useForm({ name: item.attributes.name }, change);
  const recover = () =>
    change.mutate(
      { id: item.id, name: form.trimmed.name },
      {
        onSuccess: ({ attributes: { name, changes } }) => {
          const differences = changes.map(({ detail }) => `${detail}.`).join(' ');
          showToast({
            kind: changes.length > 0 ? 'notice' : 'success',
            message: `${name} is recovered. ${differences}`.trim(),
          });
          onClose();
        },
      },
    );
  return (
    <FormDialog
      title={`Recover ${item.attributes.name}`}
      action="Recover"
      form={form}
      onSubmit={recover}
      onClose={onClose}
    >
      <Text size="sm">{KINDS[item.attributes.kind].contents}</Text>
      <TextInput label="Name" required data-autofocus {...form.text('name')} />
    </FormDialog>
  );
};

export const PurgeDialog = ({ organization, item, onClose }: ItemDialogProps) => {
  const { name } = item.attributes;
  const purge = usePurgeItem(organization);
  return (
    <ConfirmDialog
      title={`Delete ${name} for good`}
      action="Delete for good"
      typed={name}
      change={purge}
      onConfirm={() => purge.mutate(item.id, reportAndClose(`${name} is deleted for good.`, onClose))}
      onClose={onClose}
    >
      <Text size="sm">The server removes its secrets and files now, and nobody can recover it.</Text>
    </ConfirmDialog>
  );
};
