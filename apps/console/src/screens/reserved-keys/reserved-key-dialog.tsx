import { Alert, Checkbox, Stack, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import {
  keyPreviewQuery,
  useDeleteReservedKey,
  useSaveReservedKey,
  type KeyProposal,
  type ReservedTagKey,
} from '../../api/tags.js';
import { ApiError } from '../../api/api-error.js';
import { ChangedNotice } from '../../components/changed-notice.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { formatCount } from '../../components/counts.js';
import { listChanges, useForm } from '../../components/form.js';
import { FormDialog } from '../../components/form-dialog.js';
import { LoadingLines } from '../../components/states.js';
import { reportAndClose } from '../../toasts.js';

const TYPING_MS = 300;

const listNames = (names: readonly string[], total: number): string =>
  `${names.join(', ')}${total > names.length ? ` and ${(total - names.length).toLocaleString()} more` : ''}`;

type PreviewProps = { readonly organization: string; readonly proposal: KeyProposal };

/** The effect of the change, before it is saved. */
const Preview = ({ organization, proposal }: PreviewProps) => {
  const query = useQuery({ ...keyPreviewQuery(organization, proposal), enabled: proposal.key !== '', retry: false });
  if (proposal.key === '') return null;
  if (query.error instanceof ApiError) {
    return (
      <Alert color="red" variant="light" role="status">
        {query.error.message}
      </Alert>
    );
  }
  if (!query.data) return <LoadingLines count={3} height={16} />;
  const { gaps, gapCount, overrides, overrideCount, refusedIn } = query.data;
  return (
    <Alert color={gapCount > 0 || overrideCount > 0 ? 'yellow' : 'green'} variant="light" title="Preview" role="status">
      <Stack gap="xs">
        <Text size="sm">
          {gapCount === 0
            ? 'Every workspace that you may read has a value for this key.'
            : `${formatCount(gapCount, 'workspace')} without a value: ${listNames(gaps, gapCount)}.`}
        </Text>
        <Text size="sm">
          {overrideCount === 0
            ? 'No workspace overrides the value of its project.'
            : `${overrideCount === 1 ? '1 workspace overrides its project' : `${overrideCount.toLocaleString()} workspaces override their projects`}: ${listNames(
                overrides.map(
                  ({ workspace, value, projectValue }) => `${workspace} (${value} instead of ${projectValue})`,
                ),
                overrideCount,
              )}.`}
        </Text>
        {proposal.disableOverrides && (
          <Text size="sm">
            New values of workspaces are refused in {formatCount(refusedIn.projects, 'project')} with{' '}
            {formatCount(refusedIn.workspaces, 'workspace')}. Values that exist stay.
          </Text>
        )}
      </Stack>
    </Alert>
  );
};

type DialogProps = {
  readonly organization: string;
  /** The key as it is now. Null: a new one. */
  readonly reservedKey: ReservedTagKey | null;
  readonly onClose: () => void;
};

const NO_KEY = { key: '', 'disable-overrides': false, 'updated-at': '' };

export const ReservedKeyDialog = ({ organization, reservedKey, onClose }: DialogProps) => {
  const { 'updated-at': updatedAt, ...present } = reservedKey?.attributes ?? NO_KEY;
  const [openedAt, setOpenedAt] = useState(updatedAt);
  const change = useSaveReservedKey(organization);
  const values = { key: present.key, disableOverrides: present['disable-overrides'] };
  const form = useForm(values, change);
  const { trimmed } = form;
  const [previewed] = useDebouncedValue(trimmed.key, TYPING_MS);
  const id = reservedKey?.id ?? null;
  const save = () => {
    const sent = id === null ? { id, ...trimmed } : { id, ...listChanges(values, trimmed) };
    change.mutate(sent, reportAndClose(`The key ${trimmed.key} is reserved.`, onClose));
  };
  return (
    <FormDialog
      title={reservedKey ? `Change ${present.key}` : 'Reserve a key'}
      action={reservedKey ? 'Save' : 'Reserve'}
      form={form}
      onSubmit={save}
      onClose={onClose}
    >
      {openedAt !== updatedAt && !change.isPending && !change.isSuccess && (
        <ChangedNotice
          what="key"
          onReset={() => {
            form.reset();
            setOpenedAt(updatedAt);
          }}
        >
          It is now {present.key}, and workspaces {present['disable-overrides'] ? 'must not' : 'may'} override the value
          of their project.
        </ChangedNotice>
      )}
      <TextInput label="Key" required data-autofocus placeholder="cost-center" {...form.text('key')} />
      <Checkbox
        label="Workspaces must not override the value of their project"
        {...form.checkbox('disableOverrides')}
      />
      <Preview organization={organization} proposal={{ id, ...trimmed, key: previewed }} />
    </FormDialog>
  );
};

type DeleteProps = Omit<DialogProps, 'reservedKey'> & { readonly reservedKey: ReservedTagKey };

export const DeleteKeyDialog = ({ organization, reservedKey: { id, attributes }, onClose }: DeleteProps) => {
  const { key, 'disable-overrides': disableOverrides } = attributes;
  const change = useDeleteReservedKey(organization);
  const reservation = useSaveReservedKey(organization);
  const undo = () => reservation.mutate({ id: null, key, disableOverrides });
  return (
    <ConfirmDialog
      title={`Remove ${key}`}
      action="Remove"
      change={change}
      onConfirm={() => change.mutate(id, reportAndClose(`The key ${key} is no longer reserved.`, onClose, undo))}
      onClose={onClose}
    >
      Workspaces and projects keep their values of this key. The console no longer lists workspaces without a value.
    </ConfirmDialog>
  );
};
