import { Select, TextInput } from '@mantine/core';
import type { IdentityProvider } from '../../api/identity-providers.js';
import { useCreateScimToken, useRevokeScimToken } from '../../api/scim-tokens.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { Dialog } from '../../components/dialog.js';
import { toEndOfDay } from '../../components/end-of-day.js';
import { useForm } from '../../components/form.js';
import { DialogForm } from '../../components/form-dialog.js';
import { NewSecret } from '../../components/new-secret.js';
import { reportAndClose } from '../../toasts.js';

type CreateProps = { readonly providers: readonly IdentityProvider[]; readonly onClose: () => void };
type FormProps = CreateProps & { readonly creation: ReturnType<typeof useCreateScimToken> };

type TokenFields = { readonly provider: string | null; readonly description: string; readonly 'expired-at': string };

const ScimTokenForm = ({ providers, creation, onClose }: FormProps) => {
  const present: TokenFields = { provider: null, description: '', 'expired-at': '' };
  const form = useForm(present, creation);
  const { provider: source, description, 'expired-at': day } = form.trimmed;
  return (
    <DialogForm
      action="Create"
      form={form}
      onSubmit={() => creation.mutate({ source, description, expiredAt: toEndOfDay(day) })}
      onClose={onClose}
    >
      <Select
        label="Identity provider"
        description="The token then sees only the users and groups that tokens of this provider created. Without a provider, it sees those of tokens without one."
        clearable
        data={providers.map(({ id, attributes }) => ({ value: id, label: attributes.name }))}
        comboboxProps={{ withinPortal: false }}
        {...form.choice('provider')}
      />
      <TextInput label="Description" required data-autofocus {...form.text('description')} />
      <TextInput
        label="Last day"
        description="In your time zone. If you choose no day, the limit of the site applies."
        type="date"
        {...form.text('expired-at')}
      />
    </DialogForm>
  );
};

/** Creates a token for SCIM, and shows it once. */
export const CreateScimTokenDialog = (props: CreateProps) => {
  const creation = useCreateScimToken();
  return (
    <Dialog isLocked={creation.isSuccess} onClose={props.onClose} title="New SCIM token">
      {creation.data === undefined ? (
        <ScimTokenForm {...props} creation={creation} />
      ) : (
        <NewSecret secret={creation.data} onClose={props.onClose} />
      )}
    </Dialog>
  );
};

type RevokeProps = { readonly id: string; readonly name: string; readonly onClose: () => void };

export const RevokeScimTokenDialog = ({ id, name, onClose }: RevokeProps) => {
  const revocation = useRevokeScimToken();
  return (
    <ConfirmDialog
      title={`Revoke ${name}`}
      action="Revoke"
      change={revocation}
      onConfirm={() => revocation.mutate(id, reportAndClose('The token is revoked.', onClose))}
      onClose={onClose}
    >
      The identity provider can no longer manage users and groups with this token. Users and groups stay.
    </ConfirmDialog>
  );
};
