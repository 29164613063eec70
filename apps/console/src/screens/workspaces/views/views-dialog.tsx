import { Alert, Button, Checkbox, Group, Stack, Text, TextInput, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState, type SyntheticEvent } from 'react';
import { savedViewsQuery, useSaveView, useUpdateView, type SavedView } from '../../../api/saved-views.js';
import { Dialog } from '../../../components/dialog.js';
import { PendingButton } from '../../../components/pending-button.js';
import { findFieldProblem, FormProblems } from '../../../components/problems.js';
import { RowList } from '../../../components/row-list.js';
import { QueryState } from '../../../components/states.js';
import { showToast } from '../../../toasts.js';
import type { ListSearch } from '../workspaces.search.js';
import { formatViewQuery, type OpenedView } from './opened-view.js';
import { ViewRow } from './view-row.js';

type ViewsDialogProps = {
  readonly organization: string;
  readonly search: ListSearch;
  readonly opened: OpenedView;
  readonly onClose: () => void;
};

const SaveForm = ({ organization, search, onClose }: Omit<ViewsDialogProps, 'opened'>) => {
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const [shared, setShared] = useState(false);
  const save = useSaveView(organization);
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    const onSuccess = ({ id }: SavedView) => {
      showToast({ kind: 'success', message: `The view ${name.trim()} is saved.` });
      void navigate({ to: `/${organization}/workspaces`, search: { ...search, view: id } });
      onClose();
    };
    save.mutate({ name: name.trim(), query: formatViewQuery(search), shared }, { onSuccess });
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <Title order={3} size="h6">
          Save the present filters, order and columns
        </Title>
        <FormProblems error={save.error} fields={['name']} />
        <TextInput
          label="Name"
          required
          autoComplete="off"
          maxLength={100}
          placeholder="Production without an owner"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={findFieldProblem(save.error, 'name')}
        />
        <Group justify="space-between">
          <Checkbox
            label={`Share it with everybody in ${organization}`}
            checked={shared}
            onChange={(event) => setShared(event.currentTarget.checked)}
          />
          <PendingButton type="submit" isPending={save.isPending} disabled={name.trim() === ''}>
            Save as a new view
          </PendingButton>
        </Group>
      </Stack>
    </form>
  );
};

/** Saves the present list in the open view, or shows again what is saved there. */
const OpenedViewActions = ({
  organization,
  search,
  opened: { view, isMissing, isChanged },
  onClose,
}: ViewsDialogProps) => {
  const navigate = useNavigate();
  const update = useUpdateView(organization);
  if (isMissing) {
    return (
      <Alert color="yellow" role="status">
        The view in the address does not exist, or it is private.
      </Alert>
    );
  }
  if (!view || !isChanged) return null;
  const { name, permissions } = view.attributes;
  const replace = () => {
    const onSuccess = () => {
      const { query } = view.attributes;
      showToast({
        kind: 'success',
        message: `The view ${name} is replaced.`,
        undo: () => update.mutate({ id: view.id, changes: { query } }),
      });
      onClose();
    };
    update.mutate({ id: view.id, changes: { query: formatViewQuery(search) } }, { onSuccess });
  };
  const reopen = () => {
    void navigate({ to: `/${organization}/workspaces`, search: { view: view.id }, reloadDocument: true });
  };
  return (
    <Alert color="blue" variant="light" title={`The list differs from ${name}`}>
      <FormProblems error={update.error} />
      <Group gap="sm">
        {permissions['can-update'] && (
          <PendingButton size="xs" isPending={update.isPending} onClick={replace}>
            Replace {name}
          </PendingButton>
        )}
        <Button size="xs" variant="default" onClick={reopen}>
          Show {name} again
        </Button>
      </Group>
    </Alert>
  );
};

/** The saved views of the list of workspaces. */
export const ViewsDialog = (props: ViewsDialogProps) => {
  const { organization, opened, onClose } = props;
  const query = useQuery(savedViewsQuery(organization));
  return (
    <Dialog onClose={onClose} size="lg" title="Saved views">
      <Stack gap="lg">
        <OpenedViewActions {...props} />
        <QueryState query={query} what="organization">
          {(views) =>
            views.length === 0 ? (
              <Text size="sm" c="dimmed">
                Nobody has saved a view yet. Filter and sort the list, and save it here to open it again.
              </Text>
            ) : (
              <RowList label="Saved views" count={views.length}>
                {views.map((view) => (
                  <ViewRow
                    key={view.id}
                    organization={organization}
                    view={view}
                    isOpen={view.id === opened.view?.id}
                    onOpen={onClose}
                  />
                ))}
              </RowList>
            )
          }
        </QueryState>
        <SaveForm {...props} />
      </Stack>
    </Dialog>
  );
};
