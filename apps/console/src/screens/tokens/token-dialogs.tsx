import { Alert, Button, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState, type SyntheticEvent } from 'react';
import { teamSuggestionsQuery } from '../../api/teams.js';
import { useCreateToken, useRevokeToken, type RequestedToken } from '../../api/tokens.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { CodeBlock } from '../../components/copy.js';
import { Dialog } from '../../components/dialog.js';
import { DialogActions } from '../../components/dialog-actions.js';
import { findFieldProblem, FormProblems } from '../../components/problems.js';
import { showToast } from '../../components/toasts.js';
import { describeToken, type ListedToken } from './token-table.js';

type DialogProps = { readonly organization: string; readonly onClose: () => void };

const ORGANIZATION = 'organization';
const AUDIT_TRAILS = 'audit-trails';

const toOwner = (owner: string): RequestedToken['owner'] =>
  owner === ORGANIZATION || owner === AUDIT_TRAILS ? { organization: owner } : { team: owner };

/** The end of a day in the zone of the person. */
const toEnd = (day: string): string | null => (day === '' ? null : new Date(`${day}T23:59:59`).toISOString());

const CreatedToken = ({ secret, onClose }: { readonly secret: string; readonly onClose: () => void }) => (
  <Stack>
    <Alert color="yellow" variant="light" role="status" title="Copy the token now">
      The server stores only a hash of it, and shows it here once.
    </Alert>
    <CodeBlock code={secret} label="the token" />
    <Group justify="flex-end">
      <Button onClick={onClose}>I have copied it</Button>
    </Group>
  </Stack>
);

type CreateProps = DialogProps & { readonly isOwner: boolean };

type OwnerFieldProps = Omit<CreateProps, 'onClose'> & {
  readonly owner: string | null;
  readonly onChange: (owner: string | null) => void;
};

/** The teams whose tokens the person may manage, and for owners the organization. */
const OwnerField = ({ organization, isOwner, owner, onChange }: OwnerFieldProps) => {
  const [text, setText] = useState('');
  const [searched] = useDebouncedValue(text, 200);
  const { data: teams = [] } = useQuery(teamSuggestionsQuery(organization, searched));
  const items = teams
    .filter(({ attributes }) => attributes.permissions['can-update-api-token'])
    .map(({ id, attributes }) => ({ value: id, label: attributes.name }));
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
      value={owner}
      onChange={onChange}
      onSearchChange={setText}
      comboboxProps={{ withinPortal: false }}
    />
  );
};

type FormProps = CreateProps & { readonly creation: ReturnType<typeof useCreateToken> };

const TokenForm = ({ organization, isOwner, creation, onClose }: FormProps) => {
  const [owner, setOwner] = useState<string | null>(null);
  const [description, setDescription] = useState('');
  const [day, setDay] = useState('');
  const create = (event: SyntheticEvent) => {
    event.preventDefault();
    if (owner === null) return;
    creation.mutate({ owner: toOwner(owner), description: description.trim(), expiredAt: toEnd(day) });
  };
  const replaces = owner === ORGANIZATION || owner === AUDIT_TRAILS;
  return (
    <form onSubmit={create}>
      <Stack>
        <FormProblems error={creation.error} fields={['description', 'expired-at']} />
        <OwnerField organization={organization} isOwner={isOwner} owner={owner} onChange={setOwner} />
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
          autoComplete="off"
          value={description}
          onChange={(event) => setDescription(event.currentTarget.value)}
          error={findFieldProblem(creation.error, 'description')}
        />
        <TextInput
          label="Last day"
          description="In your time zone. If you choose no day, the limit of the organization or the site applies."
          type="date"
          value={day}
          onChange={(event) => setDay(event.currentTarget.value)}
          error={findFieldProblem(creation.error, 'expired-at')}
        />
        <DialogActions action="Create" isDisabled={owner === null} isPending={creation.isPending} onClose={onClose} />
      </Stack>
    </form>
  );
};

export const CreateTokenDialog = (props: CreateProps) => {
  const creation = useCreateToken(props.organization);
  return (
    <Dialog isLocked={creation.isSuccess} onClose={props.onClose} title="New token">
      {creation.data === undefined ? (
        <TokenForm {...props} creation={creation} />
      ) : (
        <CreatedToken secret={creation.data} onClose={props.onClose} />
      )}
    </Dialog>
  );
};

export const RevokeTokenDialog = ({ organization, row, onClose }: DialogProps & { readonly row: ListedToken }) => {
  const revocation = useRevokeToken(organization);
  const revoke = () =>
    revocation.mutate(row.token.id, {
      onSuccess: () => {
        showToast({ kind: 'success', message: 'The token is revoked.' });
        onClose();
      },
    });
  return (
    <ConfirmDialog
      title="Revoke a token"
      action="Revoke"
      error={revocation.error}
      isPending={revocation.isPending}
      onConfirm={revoke}
      onClose={onClose}
    >
      <Text size="sm">
        This revokes {describeToken(row)}. The server refuses the next request with this token (status 401). You cannot
        undo this.
      </Text>
    </ConfirmDialog>
  );
};
