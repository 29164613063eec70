import { Text } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { describeChangeError } from '../../api/api-error.js';
import { namedConsumersQuery, useChangeConsumer } from '../../api/remote-state-consumers.js';
import { workspaceSuggestionsQuery, type Workspace } from '../../api/workspaces.js';
import { DataTable, type DataColumn } from '../../components/data-table.js';
import { PagedList } from '../../components/paged-list.js';
import { FormProblems } from '../../components/problems.js';
import type { RowActionsProps } from '../../components/row-actions.js';
import { SearchSelect, toOption, useSuggestionText } from '../../components/search-select.js';
import { TextLink } from '../../components/text-link.js';
import { showToast } from '../../toasts.js';
import type { WorkspaceCardProps } from './setting-card.js';

/** Adds and removes at once, and offers to undo it. */
const useConsumers = (organization: string, workspace: Workspace) => {
  const change = useChangeConsumer(organization, workspace);
  const set = (consumer: Workspace, isAdded: boolean): void => {
    const { name } = consumer.attributes;
    const message = isAdded ? `Runs of ${name} may read the state.` : `Runs of ${name} may no longer read the state.`;
    const undo = (): void =>
      change.mutate(
        { consumer: consumer.id, isAdded: !isAdded },
        { onError: (error) => void showToast({ kind: 'error', message: describeChangeError(error) }) },
      );
    change.mutate(
      { consumer: consumer.id, isAdded },
      { onSuccess: () => void showToast({ kind: 'success', message, undo }) },
    );
  };
  return { error: change.error, set };
};

type AddConsumerProps = {
  readonly organization: string;
  readonly own: string;
  readonly onAdd: (added: Workspace) => void;
};

/** A choice adds the workspace. */
const AddConsumer = ({ organization, own, onAdd }: AddConsumerProps) => {
  const { searched, onSearch } = useSuggestionText();
  const [count, setCount] = useState(0);
  const { data = [] } = useQuery(workspaceSuggestionsQuery(organization, searched));
  const suggestions = data.filter(({ id }) => id !== own);
  const add = (id: string | null): void => {
    const added = suggestions.find((each) => each.id === id);
    if (!added) return;
    onAdd(added);
    // Empties the field.
    setCount(count + 1);
  };
  return (
    <SearchSelect
      key={count}
      label="Add a workspace"
      placeholder="Type a name"
      value={null}
      options={suggestions.map(toOption)}
      chosen={undefined}
      onSearch={onSearch}
      onChange={add}
    />
  );
};

/** The workspaces that this one names as readers of its state. Each addition and removal is saved at once. */
export const ConsumerList = ({ organization, workspace: { data: workspace } }: WorkspaceCardProps) => {
  const query = useInfiniteQuery(namedConsumersQuery(organization, workspace));
  const { error, set } = useConsumers(organization, workspace);
  const canChange = workspace.attributes.permissions['can-update'];
  const columns: readonly DataColumn<Workspace>[] = [
    {
      header: 'Workspace',
      cell: ({ attributes: { name } }) => (
        <TextLink to="/$organization/workspaces/$workspace" params={{ organization, workspace: name }}>
          {name}
        </TextLink>
      ),
    },
  ];
  const listActions = (consumer: Workspace): RowActionsProps => ({
    name: consumer.attributes.name,
    actions: [{ action: 'Remove', isDangerous: true, onClick: () => set(consumer, false) }],
  });
  const empty = (
    <Text size="sm" c="dimmed">
      The list is empty: no other workspace may read the state. You see the workspaces that you may read.
    </Text>
  );
  return (
    <>
      <FormProblems error={error} />
      <PagedList query={query} what="workspace" empty={empty}>
        {(rows) => (
          <DataTable
            label="Workspaces in the list"
            isInCard
            rows={rows}
            columns={columns}
            actions={canChange ? listActions : undefined}
          />
        )}
      </PagedList>
      {canChange && <AddConsumer organization={organization} own={workspace.id} onAdd={(added) => set(added, true)} />}
    </>
  );
};
