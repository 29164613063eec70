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
import { Dialog } from '../../components/dialog.js';
import { DialogActions } from '../../components/dialog-actions.js';
import { FormDialog } from '../../components/form-dialog.js';
import { findFieldProblem, FormProblems } from '../../components/problems.js';
import { LoadingLines } from '../../components/states.js';
import { showToast } from '../../components/toasts.js';

const TYPING_MS = 300;

const count = (number: number, one: string): string => `${number.toLocaleString()} ${one}${number === 1 ? '' : 's'}`;

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
            : `${count(gapCount, 'workspace')} without a value: ${listNames(gaps, gapCount)}.`}
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
            New values of workspaces are refused in {count(refusedIn.projects, 'project')} with{' '}
            {count(refusedIn.workspaces, 'workspace')}. Values that exist stay.
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

/** The fields of the form. A field that the person has not changed follows the present value. */
const useKeyForm = (reservedKey: ReservedTagKey | null) => {
  const { key, 'disable-overrides': disableOverrides, 'updated-at': updatedAt } = reservedKey?.attributes ?? NO_KEY;
  const present = { key, disableOverrides };
  const [openedAt, setOpenedAt] = useState(updatedAt);
  const [entered, setEntered] = useState<Partial<typeof present>>({});
  const values = { ...present, ...entered };
  const trimmed = { ...values, key: values.key.trim() };
  const id = reservedKey?.id ?? null;
  const changes = {
    ...(trimmed.key === key ? {} : { key: trimmed.key }),
    ...(trimmed.disableOverrides === disableOverrides ? {} : { disableOverrides: trimmed.disableOverrides }),
  };
  return {
    present,
    values,
    isOutdated: openedAt !== updatedAt,
    proposal: { id, ...trimmed },
    change: id === null ? { id, ...trimmed } : { id, ...changes },
    enter: (fields: Partial<typeof present>) => setEntered({ ...entered, ...fields }),
    reset: () => {
      setEntered({});
      setOpenedAt(updatedAt);
    },
  };
};

export const ReservedKeyDialog = ({ organization, reservedKey, onClose }: DialogProps) => {
  const form = useKeyForm(reservedKey);
  const { present, values, proposal } = form;
  const [previewed] = useDebouncedValue(proposal.key, TYPING_MS);
  const change = useSaveReservedKey(organization);
  const save = () => {
    const onSuccess = () => {
      showToast({ kind: 'success', message: `The key ${proposal.key} is reserved.` });
      onClose();
    };
    change.mutate(form.change, { onSuccess });
  };
  return (
    <FormDialog
      title={reservedKey ? `Change ${reservedKey.attributes.key}` : 'Reserve a key'}
      action={reservedKey ? 'Save' : 'Reserve'}
      isPending={change.isPending}
      error={change.error}
      fields={['key']}
      onSubmit={save}
      onClose={onClose}
    >
      {form.isOutdated && !change.isPending && !change.isSuccess && (
        <ChangedNotice what="key" onReset={form.reset}>
          It is now {present.key}, and workspaces {present.disableOverrides ? 'must not' : 'may'} override the value of
          their project.
        </ChangedNotice>
      )}
      <TextInput
        label="Key"
        required
        data-autofocus
        autoComplete="off"
        placeholder="cost-center"
        value={values.key}
        onChange={(event) => form.enter({ key: event.currentTarget.value })}
        error={findFieldProblem(change.error, 'key')}
      />
      <Checkbox
        label="Workspaces must not override the value of their project"
        checked={values.disableOverrides}
        onChange={(event) => form.enter({ disableOverrides: event.currentTarget.checked })}
      />
      <Preview organization={organization} proposal={{ ...proposal, key: previewed }} />
    </FormDialog>
  );
};

type DeleteProps = Omit<DialogProps, 'reservedKey'> & { readonly reservedKey: ReservedTagKey };

export const DeleteKeyDialog = ({ organization, reservedKey, onClose }: DeleteProps) => {
  const change = useDeleteReservedKey(organization);
  const { key: name, 'disable-overrides': disableOverrides } = reservedKey.attributes;
  const reservation = useSaveReservedKey(organization);
  const remove = () =>
    change.mutate(reservedKey.id, {
      onSuccess: () => {
        showToast({
          kind: 'success',
          message: `The key ${name} is no longer reserved.`,
          undo: () => reservation.mutate({ id: null, key: name, disableOverrides }),
        });
        onClose();
      },
    });
  return (
    <Dialog onClose={onClose} title={`Remove ${name}`}>
      <Stack>
        <Text size="sm">
          Workspaces and projects keep their values of this key. The console no longer lists workspaces without a value.
        </Text>
        <FormProblems error={change.error} />
        <DialogActions action="Remove" isDangerous isPending={change.isPending} onAction={remove} onClose={onClose} />
      </Stack>
    </Dialog>
  );
};
