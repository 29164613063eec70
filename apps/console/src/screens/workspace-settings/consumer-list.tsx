import { Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { describeChangeError } from '../../api/api-error.js';
import { namedConsumersQuery, useChangeConsumer } from '../../api/remote-state-consumers.js';
import type { Workspace } from '../../api/workspaces.js';
import { AddWorkspaceField } from '../../components/add-workspace-field.js';
import { DataTable, type DataColumn } from '../../components/data-table.js';
import { PagedList } from '../../components/paged-list.js';
import { FormProblems } from '../../components/problems.js';
import type { RowActionsProps } from '../../components/row-actions.js';
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
      {canChange && (
        <AddWorkspaceField
          label="Add a workspace"
          organization={organization}
          own={workspace.id}
          onAdd={(added) => set(added, true)}
        />
      )}
    </>
  );
};
