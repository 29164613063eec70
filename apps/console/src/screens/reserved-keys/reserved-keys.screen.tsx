import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { usePermission } from '../../api/organizations.js';
import { reservedKeysQuery, type ReservedTagKey } from '../../api/tags.js';
import { CreateButton } from '../../components/create-button.js';
import { DataTable, NarrowLine, type DataColumn } from '../../components/data-table.js';
import { TagIcon } from '../../components/icons.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { Page } from '../../components/page.js';
import type { RowAction } from '../../components/row-action.js';
import { EmptyState, LoadingLines, QueryState } from '../../components/states.js';
import { Time } from '../../components/times.js';
import { TagTabs } from '../tags/tag-tabs.js';

const ReservedKeyDialog = lazyComponent(() => import('./reserved-key-dialog.js'), 'ReservedKeyDialog');
const DeleteKeyDialog = lazyComponent(() => import('./reserved-key-dialog.js'), 'DeleteKeyDialog');

const NO_CHANGE = 'You need a team that may manage workspaces or projects, or to be an owner of the organization.';

type Dialog = { readonly kind: 'edit' | 'delete'; readonly key: ReservedTagKey | null };

const describeOverride = (isFixed: boolean): string =>
  isFixed ? 'Workspaces must not override it' : 'Workspaces may override it';

type TableProps = {
  readonly keys: readonly ReservedTagKey[];
  readonly canChange: boolean;
  readonly onOpen: (dialog: Dialog) => void;
};

const KeyTable = ({ keys, canChange, onOpen }: TableProps) => {
  const describe = ({ attributes }: ReservedTagKey) => describeOverride(attributes['disable-overrides']);
  const columns: readonly DataColumn<ReservedTagKey>[] = [
    {
      header: 'Key',
      cell: (key) => (
        <>
          <code>{key.attributes.key}</code>
          <NarrowLine>{describe(key)}</NarrowLine>
        </>
      ),
    },
    { header: 'Value of the project', isWide: true, cell: describe },
    { header: 'Changed', isWide: true, cell: ({ attributes }) => <Time value={attributes['updated-at']} /> },
  ];
  const listActions = (key: ReservedTagKey): RowAction[] => [
    { action: 'Change', onClick: () => onOpen({ kind: 'edit', key }) },
    { action: 'Remove', isDangerous: true, onClick: () => onOpen({ kind: 'delete', key }) },
  ];
  return (
    <DataTable
      label="Reserved keys"
      rows={keys}
      columns={columns}
      actions={canChange ? (key) => ({ name: key.attributes.key, actions: listActions(key) }) : undefined}
    />
  );
};

/** The keys that every workspace should have a value for. */
export const ReservedKeysScreen = () => {
  const { organization } = useParams({ from: '/$organization/tags/reserved' });
  const [dialog, setDialog] = useState<Dialog | null>(null);
  const query = useQuery(reservedKeysQuery(organization));
  // The same roles manage reserved keys and tags of all workspaces.
  const canChange = usePermission(organization, 'can-manage-tags');
  const close = () => setDialog(null);
  return (
    <Page
      title="Reserved keys"
      description="Every workspace should have a value for a reserved key. Workspaces inherit the value of their project."
      actions={
        <CreateButton
          label="Reserve a key"
          isPermitted={canChange}
          reason={NO_CHANGE}
          onClick={() => setDialog({ kind: 'edit', key: null })}
        />
      }
    >
      <TagTabs organization={organization} />
      <QueryState query={query} what="organization" loading={<LoadingLines count={4} height={36} />}>
        {(keys) =>
          keys.length === 0 ? (
            <EmptyState icon={TagIcon} title="No key is reserved">
              <Text>
                Reserve keys such as cost-center or owner. Before you save, you see which workspaces have no value for
                it.
              </Text>
            </EmptyState>
          ) : (
            <KeyTable keys={keys} canChange={canChange ?? false} onOpen={setDialog} />
          )
        }
      </QueryState>
      {dialog?.kind === 'edit' && (
        <ReservedKeyDialog
          organization={organization}
          reservedKey={query.data?.find(({ id }) => id === dialog.key?.id) ?? dialog.key}
          onClose={close}
        />
      )}
      {dialog?.kind === 'delete' && dialog.key && (
        <DeleteKeyDialog organization={organization} reservedKey={dialog.key} onClose={close} />
      )}
    </Page>
  );
};
