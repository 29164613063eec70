import { Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { sshKeyUsersQuery, useAddSshKey, useChangeSshKey, useDeleteSshKey, type SshKey } from '../../api/ssh-keys.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { CodeBlock } from '../../components/copy.js';
import { formatCount } from '../../components/counts.js';
import { useForm } from '../../components/form.js';
import { FormDialog } from '../../components/form-dialog.js';
import { reportAndClose } from '../../toasts.js';

type DialogProps = { readonly organization: string; readonly onClose: () => void };
type KeyDialogProps = DialogProps & { readonly sshKey: SshKey };

const PLACEHOLDER = '-----BEGIN OPENSSH PRIVATE KEY-----';

export const AddKeyDialog = ({ organization, onClose }: DialogProps) => {
  const change = useAddSshKey(organization);
  const form = useForm({ name: '', value: '' }, change);
  const { name } = form.trimmed;
  // The end of the text can belong to the key.
  const add = () =>
    change.mutate({ name, value: form.values.value }, reportAndClose(`The key ${name} is added.`, onClose));
  return (
    <FormDialog
      size="lg"
      title="Add an SSH key"
      action="Add"
      intro={
        <>
          <Text size="sm">
            Create a key without a passphrase, give its public part to your Git server, and paste the private part here.
          </Text>
          <CodeBlock code="ssh-keygen -t ed25519 -N '' -f modules-key" label="the command that creates a key" />
        </>
      }
      form={form}
      onSubmit={add}
      onClose={onClose}
    >
      <TextInput label="Name" required data-autofocus {...form.text('name')} />
      <Textarea
        label="Private key"
        description="Nobody can read it again."
        required
        rows={8}
        spellCheck={false}
        placeholder={PLACEHOLDER}
        {...form.text('value')}
      />
    </FormDialog>
  );
};

export const ChangeKeyDialog = ({ organization, sshKey, onClose }: KeyDialogProps) => {
  const change = useChangeSshKey(organization, sshKey.id);
  const form = useForm({ name: sshKey.attributes.name, value: '' }, change);
  const { name } = form.trimmed;
  const { value } = form.values;
  const save = () =>
    change.mutate({ name, ...(value === '' ? {} : { value }) }, reportAndClose(`The key ${name} is changed.`, onClose));
  return (
    <FormDialog
      size="lg"
      title={`Change ${sshKey.attributes.name}`}
      action="Save"
      isDisabled={name === sshKey.attributes.name && value === ''}
      form={form}
      onSubmit={save}
      onClose={onClose}
    >
      <TextInput label="Name" required data-autofocus {...form.text('name')} />
      <Textarea
        label="New private key"
        description="An empty field keeps the present key. The workspaces keep using this key."
        rows={8}
        spellCheck={false}
        placeholder={PLACEHOLDER}
        {...form.text('value')}
      />
    </FormDialog>
  );
};

/** Names the workspaces that would have no key. */
const KeyUsers = ({ organization, sshKey }: Omit<KeyDialogProps, 'onClose'>) => {
  const { data } = useQuery(sshKeyUsersQuery(organization, sshKey.id));
  if (data === undefined) return <Text size="sm">The workspaces that use it have no key then.</Text>;
  if (data.total === 0) return <Text size="sm">No workspace that you may see uses it.</Text>;
  const others = data.total - data.names.length;
  return (
    <Text size="sm">
      {formatCount(data.total, 'workspace uses it and has', 'workspaces use it and have')} no key then:{' '}
      {data.names.join(', ')}
      {others > 0 && ` and ${others.toLocaleString()} more`}.
    </Text>
  );
};

export const DeleteKeyDialog = ({ organization, sshKey, onClose }: KeyDialogProps) => {
  const { name } = sshKey.attributes;
  const deletion = useDeleteSshKey(organization, sshKey.id);
  return (
    <ConfirmDialog
      title={`Delete ${name}`}
      action="Delete"
      typed={name}
      change={deletion}
      onConfirm={() => deletion.mutate(undefined, reportAndClose(`The key ${name} is deleted.`, onClose))}
      onClose={onClose}
    >
      <Stack gap="xs">
        <KeyUsers organization={organization} sshKey={sshKey} />
        <Text size="sm">You cannot undo this, because nobody can read the key.</Text>
      </Stack>
    </ConfirmDialog>
  );
};
