import { Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { recoverableItemsQuery, type RecoverableItem } from '../../api/recoverable-items.js';
import { DataTable, NarrowLine, type DataColumn } from '../../components/data-table.js';
import { WorkspaceIcon } from '../../components/icons.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { Page } from '../../components/page.js';
import { PagedList } from '../../components/paged-list.js';
import type { RowAction } from '../../components/row-action.js';
import { EmptyState } from '../../components/states.js';
import { Time } from '../../components/times.js';
import { KINDS } from './kinds.js';

const loadDialogs = () => import('./recovery-dialogs.js');
const RecoverDialog = lazyComponent(loadDialogs, 'RecoverDialog');
const PurgeDialog = lazyComponent(loadDialogs, 'PurgeDialog');

const NO_PURGE = 'The deletion was forced. Only people who may force it delete the workspace for good.';

type OpenDialog = { readonly kind: 'recover' | 'purge'; readonly item: RecoverableItem };

/** The time is null only after a recovery, when the item is in no list. */
const OptionalTime = ({ value }: { readonly value: string | null }) => value !== null && <Time value={value} />;

const COLUMNS: readonly DataColumn<RecoverableItem>[] = [
  {
    header: 'Name',
    cell: ({ attributes }) => (
      <>
        {attributes.name}
        <NarrowLine>
          until <OptionalTime value={attributes['recoverable-until']} />
        </NarrowLine>
      </>
    ),
  },
  { header: 'Kind', isWide: true, cell: ({ attributes: { kind } }) => KINDS[kind].label },
  {
    header: 'Deleted',
    cell: ({ attributes }) => (
      <>
        <OptionalTime value={attributes['deleted-at']} />
        {attributes['deleted-by'] && <Text size="xs">by {attributes['deleted-by'].name}</Text>}
      </>
    ),
  },
  {
    header: 'Recoverable until',
    isWide: true,
    cell: ({ attributes }) => <OptionalTime value={attributes['recoverable-until']} />,
  },
];

const Nothing = () => (
  <EmptyState icon={WorkspaceIcon} title="Nothing that you can recover">
    <Text>Resources that you may delete are here after their deletion, until they can no longer be recovered.</Text>
  </EmptyState>
);

/** Deleted resources that can come back. */
export const RecentlyDeletedScreen = () => {
  const { organization } = useParams({ from: '/$organization/settings/recently-deleted' });
  const [open, setOpen] = useState<OpenDialog | null>(null);
  const query = useInfiniteQuery(recoverableItemsQuery(organization));
  const listActions = (item: RecoverableItem): RowAction[] => [
    { action: 'Recover', onClick: () => setOpen({ kind: 'recover', item }) },
    {
      action: 'Delete for good',
      isDangerous: true,
      refusal: item.attributes.permissions['can-purge'] ? undefined : NO_PURGE,
      onClick: () => setOpen({ kind: 'purge', item }),
    },
  ];
  const Dialog = open?.kind === 'recover' ? RecoverDialog : PurgeDialog;
  return (
    <Page
      title="Recently deleted"
      description="Resources come back as they were, but workspaces without their runs. After their time, the server removes their secrets and files."
    >
      <PagedList query={query} what="organization" empty={<Nothing />}>
        {(items) => (
          <DataTable
            label="Recently deleted"
            rows={items}
            columns={COLUMNS}
            actions={(item) => ({ name: item.attributes.name, actions: listActions(item) })}
          />
        )}
      </PagedList>
      {open && <Dialog organization={organization} item={open.item} onClose={() => setOpen(null)} />}
    </Page>
  );
};
