import { Button, Group, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { lazyComponent } from '../../components/lazy-component.js';
import { organizationQuery } from '../../api/organizations.js';
import { reservedKeysQuery, type ReservedTagKey } from '../../api/tags.js';
import { PlusIcon, TagIcon } from '../../components/icons.js';
import { Page } from '../../components/page.js';
import { PermittedButton } from '../../components/permitted-button.js';
import { EmptyState, LoadingLines, QueryState } from '../../components/states.js';
import { Time } from '../../components/times.js';
import { TagTabs } from '../tags/tag-tabs.js';
import classes from '../../components/table-frame.module.css';

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

const KeyTable = ({ keys, canChange, onOpen }: TableProps) => (
  <div className={classes['frame']}>
    <Table verticalSpacing="sm" horizontalSpacing="md" aria-label="Reserved keys">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Key</Table.Th>
          <Table.Th className={classes['wide']}>Value of the project</Table.Th>
          <Table.Th className={classes['wide']}>Changed</Table.Th>
          {canChange && <Table.Th>Actions</Table.Th>}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {keys.map((key) => {
          const { key: name, 'disable-overrides': isFixed, 'updated-at': changedAt } = key.attributes;
          return (
            <Table.Tr key={key.id}>
              <Table.Td fw={600}>
                {name}
                <div className={classes['narrow']}>{describeOverride(isFixed)}</div>
              </Table.Td>
              <Table.Td className={classes['wide']}>{describeOverride(isFixed)}</Table.Td>
              <Table.Td className={classes['wide']}>
                <Time value={changedAt} />
              </Table.Td>
              {canChange && (
                <Table.Td>
                  <Group gap="xs">
                    <Button
                      size="compact-sm"
                      variant="default"
                      aria-label={`Change ${name}`}
                      onClick={() => onOpen({ kind: 'edit', key })}
                    >
                      Change
                    </Button>
                    <Button
                      size="compact-sm"
                      variant="subtle"
                      color="red"
                      aria-label={`Remove ${name}`}
                      onClick={() => onOpen({ kind: 'delete', key })}
                    >
                      Remove
                    </Button>
                  </Group>
                </Table.Td>
              )}
            </Table.Tr>
          );
        })}
      </Table.Tbody>
    </Table>
  </div>
);

/** The keys that every workspace should have a value for. */
export const ReservedKeysScreen = () => {
  const { organization } = useParams({ from: '/$organization/tags/reserved' });
  const [dialog, setDialog] = useState<Dialog | null>(null);
  const query = useQuery(reservedKeysQuery(organization));
  const { data } = useQuery(organizationQuery(organization));
  // The same roles manage reserved keys and tags of all workspaces.
  const canChange = data?.attributes.permissions['can-manage-tags'] ?? false;
  const close = () => setDialog(null);
  return (
    <Page
      title="Reserved keys"
      description="Every workspace should have a value for a reserved key. Workspaces inherit the value of their project."
      breadcrumbs={[{ label: organization }, { label: 'Tags', to: `/${organization}/tags` }]}
      actions={
        data && (
          <PermittedButton
            isPermitted={canChange}
            reason={NO_CHANGE}
            leftSection={<PlusIcon size={16} />}
            onClick={() => setDialog({ kind: 'edit', key: null })}
          >
            Reserve a key
          </PermittedButton>
        )
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
            <KeyTable keys={keys} canChange={canChange} onOpen={setDialog} />
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
