import { Stack, Text } from '@mantine/core';
import { useDeleteProvider, type IdentityProvider } from '../../api/identity-providers.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { CodeBlock } from '../../components/copy.js';
import { Dialog } from '../../components/dialog.js';
import { reportAndClose } from '../../toasts.js';

type ProviderProps = { readonly provider: IdentityProvider; readonly onClose: () => void };

/** The addresses to register at the provider, and the one with which to try it. */
export const AddressesDialog = ({ provider: { id, attributes }, onClose }: ProviderProps) => (
  <Dialog title={`Addresses of ${attributes.name}`} size="lg" onClose={onClose}>
    <Stack gap="sm">
      <Text size="sm">Register these addresses at the provider.</Text>
      {attributes['metadata-url'] === null ? (
        <CodeBlock code={attributes['callback-url']} label="the redirect URI" />
      ) : (
        <>
          <CodeBlock code={attributes['metadata-url']} label="the metadata of this server" />
          <CodeBlock code={attributes['client-id']} label="the entity ID of this server" />
          <CodeBlock code={attributes['callback-url']} label="the assertion consumer service" />
        </>
      )}
      {attributes['back-channel-logout-url'] !== null && (
        <CodeBlock code={attributes['back-channel-logout-url']} label="the address for back-channel logout" />
      )}
      {attributes.enabled && (
        <>
          <Text size="sm">
            Try the sign-in in a private window, so that you stay signed in here if it does not work.
          </Text>
          <CodeBlock
            code={`${window.location.origin}/sign-in/${attributes.protocol}/${id}`}
            label="the address of the sign-in"
          />
        </>
      )}
    </Stack>
  </Dialog>
);

export const DeleteProviderDialog = ({ provider: { id, attributes }, onClose }: ProviderProps) => {
  const deletion = useDeleteProvider();
  const { name } = attributes;
  return (
    <ConfirmDialog
      title={`Delete ${name}`}
      action="Delete"
      typed={name}
      change={deletion}
      onConfirm={() => deletion.mutate(id, reportAndClose(`${name} is deleted.`, onClose))}
      onClose={onClose}
    >
      Nobody can sign in with it any more, its sessions end, and its tokens for SCIM are revoked. Accounts, memberships
      and teams stay.
    </ConfirmDialog>
  );
};
