import { Alert, Select, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { teamSuggestionsQuery } from '../../api/teams.js';
import { useCreateToken, useRevokeToken, type RequestedToken } from '../../api/tokens.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { Dialog } from '../../components/dialog.js';
import { toEndOfDay } from '../../components/end-of-day.js';
import { useForm } from '../../components/form.js';
import { DialogForm } from '../../components/form-dialog.js';
import { NewSecret } from '../../components/new-secret.js';
import { toOption, useSuggestionText } from '../../components/search-select.js';
import { reportAndClose } from '../../toasts.js';
import { describeToken, type ListedToken } from './token-table.js';

type DialogProps = { readonly organization: string; readonly onClose: () => void };

const ORGANIZATION = 'organization';
const AUDIT_TRAILS = 'audit-trails';

const toOwner = (owner: string): RequestedToken['owner'] =>
  owner === ORGANIZATION || owner === AUDIT_TRAILS ? { organization: owner } : { team: owner };

type OwnerFieldProps = {
  readonly organization: string;
  readonly isOwner: boolean;
  readonly value: string | null;
  readonly error: string | null;
  readonly onChange: (owner: string | null) => void;
};

/** The teams whose tokens the person may manage, and for owners the organization. */
const OwnerField = ({ organization, isOwner, ...field }: OwnerFieldProps) => {
  const { searched, onSearch } = useSuggestionText();
  const { data: teams = [] } = useQuery(teamSuggestionsQuery(organization, searched));
  const items = teams.filter(({ attributes }) => attributes.permissions['can-update-api-token']).map(toOption);
  const ofOrganization = [
    { value: ORGANIZATION, label: `The organization ${organization}` },
    { value: AUDIT_TRAILS, label: 'The audit trail, to read it' },
  ];
  return (
    <Select
      label="Owner"
      description="The token can do what its owner may do."
      required
      searchable
      nothingFoundMessage="No matching team whose tokens you may manage"
      data={[{ group: 'Teams', items }, ...(isOwner ? [{ group: 'Organization', items: ofOrganization }] : [])]}
      {...field}
      onSearchChange={onSearch}
      comboboxProps={{ withinPortal: false }}
    />
  );
};

type TokenOwner = RequestedToken['owner'];
type TokenFields = { readonly owner: string | null; readonly description: string; readonly 'expired-at': string };

type FormProps = Omit<CreateProps, 'title'> & { readonly creation: ReturnType<typeof useCreateToken> };

const TokenForm = ({ organization, isOwner = false, fixedOwner, creation, onClose }: FormProps) => {
  const present: TokenFields = { owner: null, description: '', 'expired-at': '' };
  const form = useForm(present, creation);
  const { owner: chosen, description, 'expired-at': day } = form.trimmed;
  const owner = fixedOwner ?? (chosen === null ? null : toOwner(chosen));
  const replaces = owner !== null && 'organization' in owner;
  const create = () => {
    if (owner !== null) creation.mutate({ owner, description, expiredAt: toEndOfDay(day) });
  };
  return (
    <DialogForm action="Create" isDisabled={owner === null} form={form} onSubmit={create} onClose={onClose}>
      {!fixedOwner && <OwnerField organization={organization} isOwner={isOwner} {...form.choice('owner')} />}
      {replaces && (
        <Alert color="yellow" variant="light">
          This owner has at most one token of this kind. The new token replaces it, and the old token ends at once.
        </Alert>
      )}
      <TextInput
        label="Description"
        description="Where the token is used."
        placeholder="Pipeline of the shop"
        required={!replaces}
        {...(fixedOwner ? { 'data-autofocus': true } : {})}
        {...form.text('description')}
      />
      <TextInput
        label="Last day"
        description="In your time zone. If you choose no day, the limit of the organization or the site applies."
        type="date"
        {...form.text('expired-at')}
      />
    </DialogForm>
  );
};

type CreateProps = DialogProps & {
  readonly title?: string;
  /** Whether the person may create the tokens of the organization. */
  readonly isOwner?: boolean;
  /** The owner of the token, if the person does not choose it. */
  readonly fixedOwner?: TokenOwner;
  /** Returns what to do with the token, which is on the screen with it. */
  readonly getUse?: (secret: string) => ReactNode;
};

/** Creates a token, and shows it once. */
export const CreateTokenDialog = ({ title = 'New token', getUse, ...props }: CreateProps) => {
  const creation = useCreateToken(props.organization);
  return (
    <Dialog isLocked={creation.isSuccess} onClose={props.onClose} title={title}>
      {creation.data === undefined ? (
        <TokenForm {...props} creation={creation} />
      ) : (
        <NewSecret secret={creation.data} onClose={props.onClose}>
          {getUse?.(creation.data)}
        </NewSecret>
      )}
    </Dialog>
  );
};

export const RevokeTokenDialog = ({ organization, row, onClose }: DialogProps & { readonly row: ListedToken }) => {
  const revocation = useRevokeToken(organization);
  return (
    <ConfirmDialog
      title="Revoke a token"
      action="Revoke"
      change={revocation}
      onConfirm={() => revocation.mutate(row.id, reportAndClose('The token is revoked.', onClose))}
      onClose={onClose}
    >
      This revokes {describeToken(row)}. The server refuses the next request with this token (status 401). You cannot
      undo this.
    </ConfirmDialog>
  );
};
