import { PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import type { ComponentProps } from 'react';
import { nameConnection, useChangeConnection, useDeleteConnection, type Connection } from '../../api/connections.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { useForm } from '../../components/form.js';
import { FormDialog } from '../../components/form-dialog.js';
import { reportAndClose } from '../../toasts.js';
import { ScopeFields } from './scope-fields.js';

type DialogProps = {
  readonly organization: string;
  readonly connection: Connection;
  readonly onClose: () => void;
};

const toValues = ({ attributes, relationships }: Connection) => ({
  name: attributes.name ?? '',
  'oauth-token-string': '',
  key: attributes.key ?? '',
  secret: '',
  'organization-scoped': attributes['organization-scoped'],
  projects: relationships.projects.data.map(({ id }) => id) as readonly string[],
});

type StoredApplicationForm = {
  readonly text: (name: 'key' | 'secret') => Pick<ComponentProps<typeof TextInput>, 'value' | 'onChange' | 'error'>;
};

/** The OAuth application of a connection. */
const StoredApplicationFields = ({ form }: { readonly form: StoredApplicationForm }) => (
  <>
    <TextInput
      label="Client id"
      description="After you change it, authorize the connection again."
      required
      spellCheck={false}
      {...form.text('key')}
    />
    <PasswordInput
      label="New client secret"
      description="An empty field keeps the present secret."
      visibilityToggleButtonProps={{ 'aria-label': 'Show the secret' }}
      {...form.text('secret')}
      autoComplete="new-password"
    />
  </>
);

export const ChangeConnectionDialog = ({ organization, connection, onClose }: DialogProps) => {
  const change = useChangeConnection(organization, connection.id);
  const form = useForm(toValues(connection), change);
  const isApplication = connection.attributes.key !== null;
  const save = (): void => {
    const { name, 'oauth-token-string': token, key, secret, ...scope } = form.trimmed;
    const input = {
      ...scope,
      name: name || null,
      ...(token !== '' && { 'oauth-token-string': token }),
      ...(isApplication && { key }),
      ...(secret !== '' && { secret }),
    };
    change.mutate(input, reportAndClose('The connection is changed.', onClose));
  };
  return (
    <FormDialog
      size="lg"
      title={`Change ${nameConnection(connection)}`}
      action="Save"
      isDisabled={!form.isUnsaved}
      form={form}
      onSubmit={save}
      onClose={onClose}
    >
      <TextInput label="Name" description="Empty: the address of the host." data-autofocus {...form.text('name')} />
      <PasswordInput
        label="New access token"
        description="An empty field keeps the present token. The workspaces keep using the connection."
        visibilityToggleButtonProps={{ 'aria-label': 'Show the token' }}
        {...form.text('oauth-token-string')}
        autoComplete="new-password"
      />
      {isApplication && <StoredApplicationFields form={form} />}
      <ScopeFields organization={organization} form={form} />
    </FormDialog>
  );
};

export const DeleteConnectionDialog = ({ organization, connection, onClose }: DialogProps) => {
  const name = nameConnection(connection);
  const deletion = useDeleteConnection(organization, connection.id);
  return (
    <ConfirmDialog
      title={`Delete ${name}`}
      action="Delete"
      typed={name}
      change={deletion}
      onConfirm={() => deletion.mutate(undefined, reportAndClose(`The connection ${name} is deleted.`, onClose))}
      onClose={onClose}
    >
      <Stack gap="xs">
        <Text size="sm">Commits start no more runs in the workspaces that use this connection.</Text>
        <Text size="sm">
          You cannot undo this, because nobody can read the token. The token stays valid on the Git host until you
          delete it there.
        </Text>
        <Text size="sm">Delete the webhooks of the repositories on the Git host too. The server ignores them.</Text>
      </Stack>
    </ConfirmDialog>
  );
};
