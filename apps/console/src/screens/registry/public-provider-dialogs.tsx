import { TextInput } from '@mantine/core';
import { useChangePublicProvider, type PublicProvider } from '../../api/registry.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { useForm } from '../../components/form.js';
import { FormDialog } from '../../components/form-dialog.js';
import { reportAndClose } from '../../toasts.js';

type DialogProps = { readonly organization: string; readonly onClose: () => void };

/** Lists a provider of the public registry. */
export const AddPublicDialog = ({ organization, onClose }: DialogProps) => {
  const change = useChangePublicProvider(organization);
  const form = useForm({ namespace: '', name: '' }, change);
  const { namespace, name } = form.trimmed;
  const add = () => {
    const undo = () => change.mutate({ action: 'remove', namespace, name });
    change.mutate({ action: 'add', namespace, name }, reportAndClose(`${namespace}/${name} is listed.`, onClose, undo));
  };
  return (
    <FormDialog title="List a public provider" action="List" form={form} onSubmit={add} onClose={onClose}>
      <TextInput
        label="Namespace"
        description="The organization in the public registry."
        placeholder="hashicorp"
        required
        data-autofocus
        {...form.text('namespace')}
      />
      <TextInput label="Name" placeholder="random" required {...form.text('name')} />
    </FormDialog>
  );
};

type RemoveProps = DialogProps & { readonly provider: PublicProvider };

export const RemovePublicDialog = ({ organization, provider, onClose }: RemoveProps) => {
  const change = useChangePublicProvider(organization);
  const name = `${provider.namespace}/${provider.name}`;
  const undo = () => change.mutate({ action: 'add', ...provider });
  return (
    <ConfirmDialog
      title={`Remove ${name}`}
      action="Remove"
      change={change}
      onConfirm={() =>
        change.mutate({ action: 'remove', ...provider }, reportAndClose(`${name} is no longer listed.`, onClose, undo))
      }
      onClose={onClose}
    >
      The list no longer has the provider. Configurations that use it still install it from the public registry.
    </ConfirmDialog>
  );
};
