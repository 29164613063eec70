import { Badge, Code, Group } from '@mantine/core';
import { useState } from 'react';
import { useSwitchRange } from '../../api/ip-allowlist-changes.js';
import type { CidrRange } from '../../api/ip-allowlist.js';
import { DataTable, NarrowLine, type DataColumn } from '../../components/data-table.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { FormProblems } from '../../components/problems.js';
import type { RowAction } from '../../components/row-action.js';
import { Time } from '../../components/times.js';
import type { RestrictedCallers } from './range-dialogs.js';

const loadDialogs = () => import('./range-dialogs.js');
const DisableRangeDialog = lazyComponent(loadDialogs, 'DisableRangeDialog');
const RemoveRangeDialog = lazyComponent(loadDialogs, 'RemoveRangeDialog');

export const isEnabled = ({ attributes }: CidrRange): boolean => attributes.enabled;

type OpenDialog = { readonly kind: 'disable' | 'remove'; readonly range: CidrRange };

const COLUMNS: readonly DataColumn<CidrRange>[] = [
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

type RangeTableProps = {
  readonly organization: string;
  readonly label: string;
  readonly ranges: readonly CidrRange[];
  readonly restricts: RestrictedCallers;
};

/** The ranges of a list, which a person can disable, enable and remove. */
export const RangeTable = ({ organization, label, ranges, restricts }: RangeTableProps) => {
  const [dialog, setDialog] = useState<OpenDialog | null>(null);
  const change = useSwitchRange(organization);
  const listActions = (range: CidrRange): RowAction[] => [
    range.attributes.enabled
      ? { action: 'Disable', onClick: () => setDialog({ kind: 'disable', range }) }
      : { action: 'Enable', onClick: () => change.mutate({ id: range.id, enabled: true }) },
    { action: 'Remove', isDangerous: true, onClick: () => setDialog({ kind: 'remove', range }) },
  ];
  const Dialog = dialog?.kind === 'disable' ? DisableRangeDialog : RemoveRangeDialog;
  return (
    <>
      <FormProblems error={change.error} />
      <DataTable
        label={label}
        rows={ranges}
        columns={COLUMNS}
        actions={(range) => ({ name: range.attributes.range, actions: listActions(range) })}
      />
      {dialog && (
        <Dialog
          organization={organization}
          range={dialog.range}
          restricts={restricts}
          opens={ranges.filter(isEnabled).every(({ id }) => id === dialog.range.id)}
          onClose={() => setDialog(null)}
        />
      )}
    </>
  );
};
