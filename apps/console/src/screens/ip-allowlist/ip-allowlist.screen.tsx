import { Alert, Badge, Code, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { ipAllowlistQuery, useSwitchRange, type CidrRange, type IpAllowlist } from '../../api/ip-allowlist.js';
import { CreateButton } from '../../components/create-button.js';
import { DataTable, NarrowLine, type DataColumn } from '../../components/data-table.js';
import { UserIcon } from '../../components/icons.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { Page } from '../../components/page.js';
import { FormProblems } from '../../components/problems.js';
import { EmptyState, LoadingLines, QueryState } from '../../components/states.js';
import type { RowAction } from '../../components/row-action.js';
import { Time } from '../../components/times.js';

const loadDialogs = () => import('./range-dialogs.js');
const AddRangeDialog = lazyComponent(loadDialogs, 'AddRangeDialog');
const DisableRangeDialog = lazyComponent(loadDialogs, 'DisableRangeDialog');
const RemoveRangeDialog = lazyComponent(loadDialogs, 'RemoveRangeDialog');

type OpenDialog = { readonly kind: 'add' } | { readonly kind: 'disable' | 'remove'; readonly range: CidrRange };

const isEnabled = ({ attributes }: CidrRange): boolean => attributes.enabled;

/** What the list does now, and the address that must stay in it. */
const Effect = ({ ranges, address, agentLists }: IpAllowlist) => {
  const restricts = ranges.some(isEnabled);
  return (
    <Alert color={restricts ? 'green' : 'gray'} variant="light" role="status" mb="md">
      <Text size="sm">
        {restricts
          ? 'The organization accepts requests only from the enabled ranges. Agents and their runs are not restricted by this list.'
          : 'The organization accepts requests from every address.'}
      </Text>
      <Text size="sm">
        Your address, as the server sees it: <Code>{address ?? 'unknown'}</Code>
      </Text>
      {agentLists > 0 && (
        <Text size="sm">
          {agentLists === 1 ? 'Another list restricts' : `${agentLists} other lists restrict`} agents. You can change
          them with the API.
        </Text>
      )}
    </Alert>
  );
};

type RangeTableProps = {
  readonly organization: string;
  readonly ranges: readonly CidrRange[];
  readonly onOpen: (dialog: OpenDialog) => void;
};

const RangeTable = ({ organization, ranges, onOpen }: RangeTableProps) => {
  const change = useSwitchRange(organization);
  const columns: readonly DataColumn<CidrRange>[] = [
    {
      header: 'Range',
      cell: ({ attributes: { range, enabled, description } }) => (
        <>
          <Group gap="xs">
            <Code>{range}</Code>
            {!enabled && <Badge color="gray">Disabled</Badge>}
          </Group>
          <NarrowLine>{description}</NarrowLine>
        </>
      ),
    },
    { header: 'Description', isWide: true, cell: ({ attributes }) => attributes.description ?? '–' },
    { header: 'Changed', isWide: true, cell: ({ attributes }) => <Time value={attributes['updated-at']} /> },
  ];
  const listActions = (range: CidrRange): RowAction[] => [
    range.attributes.enabled
      ? { action: 'Disable', onClick: () => onOpen({ kind: 'disable', range }) }
      : { action: 'Enable', onClick: () => change.mutate({ id: range.id, enabled: true }) },
    { action: 'Remove', isDangerous: true, onClick: () => onOpen({ kind: 'remove', range }) },
  ];
  return (
    <>
      <FormProblems error={change.error} />
      <DataTable
        label="Ranges"
        rows={ranges}
        columns={columns}
        actions={(range) => ({ name: range.attributes.range, actions: listActions(range) })}
      />
    </>
  );
};

type RangeDialogProps = {
  readonly organization: string;
  readonly allowlist: IpAllowlist;
  readonly dialog: OpenDialog;
  readonly onClose: () => void;
};

const RangeDialog = ({ allowlist, dialog, ...common }: RangeDialogProps) => {
  if (dialog.kind === 'add') return <AddRangeDialog {...common} allowlist={allowlist} />;
  const { kind, range } = dialog;
  const Dialog = kind === 'disable' ? DisableRangeDialog : RemoveRangeDialog;
  const opens = allowlist.ranges.filter(isEnabled).every(({ id }) => id === range.id);
  return <Dialog {...common} range={range} opens={opens} />;
};

/** The addresses from which an organization accepts requests of people. */
export const IpAllowlistScreen = () => {
  const { organization } = useParams({ from: '/$organization/settings/ip-allowlist' });
  const [dialog, setDialog] = useState<OpenDialog | null>(null);
  const query = useQuery(ipAllowlistQuery(organization));
  return (
    <Page
      title="IP allowlist"
      description="Members, tokens and pipelines at other addresses cannot see or change anything of the organization."
      actions={
        <CreateButton
          label="Add a range"
          isPermitted={query.data ? true : undefined}
          onClick={() => setDialog({ kind: 'add' })}
        />
      }
    >
      <QueryState query={query} what="organization" loading={<LoadingLines count={4} height={36} />}>
        {(allowlist) => (
          <>
            <Effect {...allowlist} />
            {allowlist.ranges.length === 0 ? (
              <EmptyState icon={UserIcon} title="No range is listed">
                <Text>
                  Add the ranges of your offices and your VPN. Begin with the range that contains your address.
                </Text>
              </EmptyState>
            ) : (
              <RangeTable organization={organization} ranges={allowlist.ranges} onOpen={setDialog} />
            )}
          </>
        )}
      </QueryState>
      {dialog && query.data && (
        <RangeDialog
          organization={organization}
          allowlist={query.data}
          dialog={dialog}
          onClose={() => setDialog(null)}
        />
      )}
    </Page>
  );
};
