import { Radio, Select, Stack, Text, TextInput } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { organizationsQuery } from '../../api/organizations.js';
import { useCreateOwnToken, useRevokeOwnToken, type OwnToken, type OwnTokenAccess } from '../../api/own-tokens.js';
import { listRows } from '../../api/pages.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { CodeBlock } from '../../components/copy.js';
import { Dialog } from '../../components/dialog.js';
import { toEndOfDay } from '../../components/end-of-day.js';
import { useForm } from '../../components/form.js';
import { DialogForm } from '../../components/form-dialog.js';
import { NewSecret } from '../../components/new-secret.js';
import { reportAndClose } from '../../toasts.js';
import { ACCESS_CHOICES, nameOwnToken } from './token-words.js';

type CreateProps = { readonly user: string; readonly onClose: () => void };
type FormProps = CreateProps & { readonly creation: ReturnType<typeof useCreateOwnToken> };

type TokenFields = {
  readonly description: string;
  readonly access: OwnTokenAccess;
  readonly organization: string | null;
  readonly 'expired-at': string;
};

const PRESENT: TokenFields = { description: '', access: 'full', organization: null, 'expired-at': '' };

const OwnTokenForm = ({ creation, onClose }: FormProps) => {
  const form = useForm(PRESENT, creation);
  const { data } = useInfiniteQuery(organizationsQuery());
  const { description, access, organization, 'expired-at': day } = form.trimmed;
  const accessField = form.choice('access');
  return (
    <DialogForm
      action="Create"
      form={form}
      onSubmit={() => creation.mutate({ description, access, organization, expiredAt: toEndOfDay(day) })}
      onClose={onClose}
    >
      <TextInput
        label="Description"
        description="A text by which you recognize the token later, such as the name of the computer."
        required
        data-autofocus
        {...form.text('description')}
      />
      <Radio.Group
        label="Access"
        value={accessField.value}
        error={accessField.error}
        onChange={(value) => accessField.onChange(value as OwnTokenAccess)}
      >
        <Stack gap="xs" mt="xs">
          {ACCESS_CHOICES.map(({ value, label }) => (
            <Radio key={value} value={value} label={label} />
          ))}
        </Stack>
      </Radio.Group>
      <Select
        label="Only in this organization"
        description="Without one, the token has access to all of yours."
        searchable
        clearable
        data={listRows(data).map(({ attributes: { name } }) => name)}
        comboboxProps={{ withinPortal: false }}
        {...form.choice('organization')}
      />
      <TextInput
        label="Last day"
        description="In your time zone. If you choose no day, the limit of the site applies."
        type="date"
        {...form.text('expired-at')}
      />
    </DialogForm>
  );
};

const formatCredentials = (token: string): string =>
  JSON.stringify({ credentials: { [window.location.host]: { token } } }, null, 2);

/** Creates a token, and shows it once, also as the file that Terraform and OpenTofu read. */
export const CreateOwnTokenDialog = (props: CreateProps) => {
  const creation = useCreateOwnToken(props.user);
  return (
    <Dialog isLocked={creation.isSuccess} onClose={props.onClose} title="New token">
      {creation.data === undefined ? (
        <OwnTokenForm {...props} creation={creation} />
      ) : (
        <NewSecret secret={creation.data} onClose={props.onClose}>
          {/* Terraform cannot use a token that only reads audit trails. */}
          {creation.variables?.access !== 'audit-only' && (
            <>
              <Text size="sm">
                For Terraform and OpenTofu, put this into the file <code>~/.terraform.d/credentials.tfrc.json</code>:
              </Text>
              <CodeBlock code={formatCredentials(creation.data)} label="the credentials file" />
            </>
          )}
        </NewSecret>
      )}
    </Dialog>
  );
};

export const RevokeOwnTokenDialog = ({
  token,
  onClose,
}: {
  readonly token: OwnToken;
  readonly onClose: () => void;
}) => {
  const revocation = useRevokeOwnToken();
  return (
    <ConfirmDialog
      title={`Revoke ${nameOwnToken(token)}`}
      action="Revoke"
      change={revocation}
      onConfirm={() => revocation.mutate(token.id, reportAndClose('The token is revoked.', onClose))}
      onClose={onClose}
    >
      The server refuses the next request with this token (status 401). You cannot undo this.
    </ConfirmDialog>
  );
};
