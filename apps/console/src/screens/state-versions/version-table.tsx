import { Badge, Group } from '@mantine/core';
import { describeHolder } from '../../api/included.js';
import type { StateVersionPage } from '../../api/states.js';
import { DataTable, type DataColumn } from '../../components/data-table.js';
import type { RowAction } from '../../components/row-action.js';
import { Time } from '../../components/times.js';
import type { StateComparison } from './state-versions.search.js';
import classes from './state-versions.module.css';

const STATUS_LABELS = {
  pending: 'Waits for its file',
  finalized: 'Complete',
  discarded: 'Discarded',
  errored: 'Refused or never uploaded',
  backing_data_soft_deleted: 'File deleted, can be restored',
  backing_data_permanently_deleted: 'File deleted',
} as const;

export type ListedStateVersion = StateVersionPage['data'][number];

/** The actions on a version, except its comparison. */
export type VersionAction = 'download' | 'roll-back' | 'delete' | 'restore' | 'destroy';

type TableProps = {
  readonly pages: readonly StateVersionPage[];
  readonly current: string | null;
  readonly comparison: StateComparison;
  readonly onCompare: (comparison: StateComparison) => void;
  /** Returns why the person may not do it; undefined if they may. */
  readonly findRefusal: (action: VersionAction) => string | undefined;
  readonly onAct: (action: VersionAction, version: ListedStateVersion) => void;
};

type VersionRow = {
  readonly id: string;
  readonly version: ListedStateVersion;
  readonly creator: string;
  /** The version before this one, if it is loaded. */
  readonly previous: ListedStateVersion | undefined;
};

const hasFile = ({ attributes }: ListedStateVersion): boolean => attributes.status === 'finalized';

type ActionWords = { readonly action: string; readonly label: (serial: number) => string };

const ACTION_WORDS: Readonly<Record<VersionAction, ActionWords>> = {
  download: { action: 'Download', label: (serial) => `Download serial ${serial}` },
  'roll-back': { action: 'Roll back', label: (serial) => `Roll back to serial ${serial}` },
  delete: { action: 'Delete the file', label: (serial) => `Delete the file of serial ${serial}` },
  restore: { action: 'Restore the file', label: (serial) => `Restore the file of serial ${serial}` },
  destroy: { action: 'Delete the file for good', label: (serial) => `Delete the file for good, of serial ${serial}` },
};

const listPossible = (version: ListedStateVersion, isCurrent: boolean): readonly VersionAction[] => {
  if (version.attributes.status === 'backing_data_soft_deleted') return ['restore', 'destroy'];
  if (!hasFile(version)) return [];
  return isCurrent ? ['download'] : ['download', 'roll-back', 'delete'];
};

const listActions = ({ version, previous }: VersionRow, props: TableProps): readonly RowAction[] => {
  const { current, onCompare, findRefusal, onAct } = props;
  const { id, attributes } = version;
  const compare: RowAction = {
    action: 'Changes',
    label: `Changes of serial ${attributes.serial}`,
    onClick: () => onCompare({ from: previous?.id ?? '', to: id }),
  };
  const others = listPossible(version, id === current).map((action) => ({
    action: ACTION_WORDS[action].action,
    label: ACTION_WORDS[action].label(attributes.serial),
    isDangerous: action === 'delete' || action === 'destroy',
    refusal: findRefusal(action),
    onClick: () => onAct(action, version),
  }));
  return [...(previous && hasFile(previous) && hasFile(version) ? [compare] : []), ...others];
};

const listColumns = ({ current, comparison, onCompare }: TableProps): readonly DataColumn<VersionRow>[] => {
  // The radio of Mantine and what it imports would be 4 kB of scripts, on the largest screen.
  const choose = (side: 'from' | 'to', version: ListedStateVersion) => (
    <input
      type="radio"
      className={classes['choice']}
      name={side}
      aria-label={`Compare ${side} serial ${version.attributes.serial}`}
      disabled={!hasFile(version)}
      checked={comparison[side] === version.id}
      onChange={() => onCompare({ ...comparison, [side]: version.id })}
    />
  );
  return [
    {
      header: 'Serial',
      cell: ({ version: { id, attributes } }) => (
        <Group gap="xs" wrap="nowrap">
          {attributes.serial.toLocaleString()}
          {id === current && (
            <Badge color="green" miw="max-content">
              Current
            </Badge>
          )}
        </Group>
      ),
    },
    { header: 'From', cell: ({ version }) => choose('from', version) },
    { header: 'To', cell: ({ version }) => choose('to', version) },
    { header: 'Created', cell: ({ version }) => <Time value={version.attributes['created-at']} /> },
    { header: 'Created by', cell: ({ creator }) => creator },
    { header: 'Terraform', cell: ({ version }) => version.attributes['terraform-version'] ?? 'unknown' },
    { header: 'Status', cell: ({ version }) => STATUS_LABELS[version.attributes.status] },
  ];
};

/** The state versions, the newest first. */
export const VersionTable = (props: TableProps) => {
  const versions = props.pages.flatMap((page) => page.data.map((version) => ({ page, version })));
  const rows = versions.map(({ page, version }, index) => ({
    id: version.id,
    version,
    creator: describeHolder(page, version.relationships['created-by'].data),
    previous: versions[index + 1]?.version,
  }));
  return (
    <DataTable
      label="State versions"
      isInCard
      rows={rows}
      columns={listColumns(props)}
      actions={(row) => ({ name: `serial ${row.version.attributes.serial}`, actions: listActions(row, props) })}
    />
  );
};
