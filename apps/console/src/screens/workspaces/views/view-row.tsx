import { Anchor, Badge, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useEffect, useRef, useState, type SyntheticEvent } from 'react';
import { describeChangeError } from '../../../api/api-error.js';
import { useDeleteView, useUpdateView, type SavedView } from '../../../api/saved-views.js';
import { PendingButton } from '../../../components/pending-button.js';
import { FormProblems } from '../../../components/problems.js';
import { showToast } from '../../../toasts.js';
import classes from './views.module.css';

type RowProps = {
  readonly organization: string;
  readonly view: SavedView;
  readonly isOpen: boolean;
  readonly onOpen: () => void;
};

const RenameForm = ({
  organization,
  view,
  onDone,
}: Pick<RowProps, 'organization' | 'view'> & { readonly onDone: () => void }) => {
  const [name, setName] = useState(view.attributes.name);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  const update = useUpdateView(organization);
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    update.mutate({ id: view.id, changes: { name: name.trim() } }, { onSuccess: onDone });
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="xs">
        <FormProblems error={update.error} />
        <Group gap="xs" align="flex-end">
          <TextInput
            label={`New name of ${view.attributes.name}`}
            size="xs"
            maxLength={100}
            ref={input}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <PendingButton type="submit" size="xs" isPending={update.isPending} disabled={name.trim() === ''}>
            Rename
          </PendingButton>
          <Button size="xs" variant="default" onClick={onDone}>
            Cancel
          </Button>
        </Group>
      </Stack>
    </form>
  );
};

/** Asks before it deletes, because others can use the view. */
const DeleteForm = ({
  organization,
  view,
  onDone,
}: Pick<RowProps, 'organization' | 'view'> & { readonly onDone: () => void }) => {
  const remove = useDeleteView(organization);
  const { name, shared } = view.attributes;
  return (
    <Stack gap="xs">
      <FormProblems error={remove.error} />
      <Text size="sm">
        {shared ? `Everybody in ${organization} loses ${name}.` : `You lose ${name}.`} Links to it stop working.
      </Text>
      <Group gap="xs">
        <PendingButton color="red" size="xs" isPending={remove.isPending} onClick={() => remove.mutate(view.id)}>
          Delete {name}
        </PendingButton>
        <Button size="xs" variant="default" onClick={onDone}>
          Keep it
        </Button>
      </Group>
    </Stack>
  );
};

type RowMode = 'show' | 'rename' | 'delete';

const RowActions = ({
  organization,
  view,
  onMode,
}: Pick<RowProps, 'organization' | 'view'> & { readonly onMode: (mode: RowMode) => void }) => {
  const update = useUpdateView(organization);
  const { name, shared, permissions } = view.attributes;
  const label = (action: string): string => `${action} ${name}`;
  return (
    <Group gap={4}>
      {permissions['can-update'] && (
        <>
          <PendingButton
            size="compact-xs"
            variant="subtle"
            isPending={update.isPending}
            aria-label={label(shared ? 'Stop sharing' : 'Share')}
            onClick={() =>
              update.mutate(
                { id: view.id, changes: { shared: !shared } },
                { onError: (error) => showToast({ kind: 'error', message: describeChangeError(error) }) },
              )
            }
          >
            {shared ? 'Stop sharing' : 'Share'}
          </PendingButton>
          <Button size="compact-xs" variant="subtle" aria-label={label('Rename')} onClick={() => onMode('rename')}>
            Rename
          </Button>
        </>
      )}
      {permissions['can-destroy'] && (
        <Button size="compact-xs" variant="subtle" aria-label={label('Delete')} onClick={() => onMode('delete')}>
          Delete
        </Button>
      )}
    </Group>
  );
};

/** A saved view with a link that opens it, and what the person may do with it. */
export const ViewRow = ({ organization, view, isOpen, onOpen }: RowProps) => {
  const [mode, setMode] = useState<RowMode>('show');
  const { name, shared } = view.attributes;
  const props = { organization, view, onDone: () => setMode('show') };
  return (
    <li className={classes['view']}>
      <Group justify="space-between" gap="xs">
        <Group gap="xs">
          <Anchor size="sm" fw={600} href={`/app/${organization}/workspaces?view=${view.id}`} onClick={onOpen}>
            {name}
          </Anchor>
          <Badge size="sm" variant="default" fw={500}>
            {shared ? 'Shared' : 'Private'}
          </Badge>
          {isOpen && (
            <Text size="xs" c="dimmed">
              open
            </Text>
          )}
        </Group>
        <RowActions organization={organization} view={view} onMode={setMode} />
      </Group>
      {mode === 'rename' && <RenameForm {...props} />}
      {mode === 'delete' && <DeleteForm {...props} />}
    </li>
  );
};
