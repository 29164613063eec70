import { Alert, Badge, Button, Code, Group, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { lazyComponent } from '../../components/lazy-component.js';
import { ipAllowlistQuery, useSwitchRange, type CidrRange, type IpAllowlist } from '../../api/ip-allowlist.js';
import { PlusIcon, UserIcon } from '../../components/icons.js';
import { Page } from '../../components/page.js';
import { FormProblems } from '../../components/problems.js';
import { EmptyState, LoadingLines, QueryState } from '../../components/states.js';
import { Time } from '../../components/times.js';
import { PeopleTabs } from '../people/people-tabs.js';
import classes from '../../components/table-frame.module.css';

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

type RangeRowProps = {
  readonly range: CidrRange;
  readonly onOpen: (dialog: OpenDialog) => void;
  readonly onEnable: () => void;
};

const RangeRow = ({ range, onOpen, onEnable }: RangeRowProps) => {
  const { range: text, description, enabled, 'updated-at': changedAt } = range.attributes;
  return (
    <Table.Tr>
      <Table.Td>
        <Group gap="xs">
          <Code>{text}</Code>
          {!enabled && <Badge color="gray">Disabled</Badge>}
        </Group>
        {description && <div className={classes['narrow']}>{description}</div>}
      </Table.Td>
      <Table.Td className={classes['wide']}>{description ?? '–'}</Table.Td>
      <Table.Td className={classes['wide']}>
        <Time value={changedAt} />
      </Table.Td>
      <Table.Td>
        <Group gap="xs">
          <Button
            size="compact-sm"
            variant="default"
            aria-label={`${enabled ? 'Disable' : 'Enable'} ${text}`}
            onClick={() => (enabled ? onOpen({ kind: 'disable', range }) : onEnable())}
          >
            {enabled ? 'Disable' : 'Enable'}
          </Button>
          <Button
            size="compact-sm"
            variant="subtle"
            color="red"
            aria-label={`Remove ${text}`}
            onClick={() => onOpen({ kind: 'remove', range })}
          >
            Remove
          </Button>
        </Group>
      </Table.Td>
    </Table.Tr>
  );
};

type RangeTableProps = {
  readonly organization: string;
  readonly ranges: readonly CidrRange[];
  readonly onOpen: (dialog: OpenDialog) => void;
};

const RangeTable = ({ organization, ranges, onOpen }: RangeTableProps) => {
  const change = useSwitchRange(organization);
  return (
    <>
      <FormProblems error={change.error} />
      <div className={classes['frame']}>
        <Table verticalSpacing="sm" horizontalSpacing="md" aria-label="Ranges">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Range</Table.Th>
              <Table.Th className={classes['wide']}>Description</Table.Th>
              <Table.Th className={classes['wide']}>Changed</Table.Th>
              <Table.Th>Actions</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {ranges.map((range) => (
              <RangeRow
                key={range.id}
                range={range}
                onOpen={onOpen}
                onEnable={() => change.mutate({ id: range.id, enabled: true })}
              />
            ))}
          </Table.Tbody>
        </Table>
      </div>
    </>
  );
};

type RangeDialogProps = {
  readonly organization: string;
  readonly allowlist: IpAllowlist;
  readonly dialog: OpenDialog;
  readonly onClose: () => void;
};

const RangeDialog = ({ organization, allowlist, dialog, onClose }: RangeDialogProps) => {
  if (dialog.kind === 'add') {
    return <AddRangeDialog organization={organization} allowlist={allowlist} onClose={onClose} />;
  }
  const { kind, range } = dialog;
  const Dialog = kind === 'disable' ? DisableRangeDialog : RemoveRangeDialog;
  const opens = allowlist.ranges.filter(isEnabled).every(({ id }) => id === range.id);
  return <Dialog organization={organization} range={range} opens={opens} onClose={onClose} />;
};

/** The addresses from which an organization accepts requests of people. */
export const IpAllowlistScreen = () => {
  const { organization } = useParams({ from: '/$organization/people/addresses' });
  const [dialog, setDialog] = useState<OpenDialog | null>(null);
  const query = useQuery(ipAllowlistQuery(organization));
  return (
    <Page
      title="IP allowlist"
      description="Members, tokens and pipelines at other addresses cannot see or change anything of the organization."
      breadcrumbs={[{ label: organization }]}
      actions={
        query.data && (
          <Button leftSection={<PlusIcon size={16} />} onClick={() => setDialog({ kind: 'add' })}>
            Add a range
          </Button>
        )
      }
    >
      <PeopleTabs organization={organization} />
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
