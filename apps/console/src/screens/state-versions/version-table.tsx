import { Badge, Button, Table, VisuallyHidden } from '@mantine/core';
import { describeHolder } from '../../api/included.js';
import type { StateVersionPage } from '../../api/states.js';
import { Time } from '../../components/times.js';
import { WideTable } from '../../components/wide-table.js';
import tableClasses from '../../components/table-frame.module.css';
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

type StateVersion = StateVersionPage['data'][number];

type TableProps = {
  readonly pages: readonly StateVersionPage[];
  readonly current: string | null;
  readonly comparison: StateComparison;
  readonly onCompare: (comparison: StateComparison) => void;
};

type RowProps = Omit<TableProps, 'pages'> & {
  readonly page: StateVersionPage;
  readonly version: StateVersion;
  /** The version before this one, if it is loaded. */
  readonly previous: StateVersion | undefined;
};

const VersionRow = ({ page, version, previous, current, comparison, onCompare }: RowProps) => {
  const { id, attributes, relationships } = version;
  const holder = describeHolder(page, relationships['created-by'].data);
  const terraform = attributes['terraform-version'] ?? 'unknown';
  const status = STATUS_LABELS[attributes.status];
  const hasFile = attributes.status === 'finalized';
  // The radio of Mantine and what it imports would be 4 kB of scripts, on the largest screen.
  const choose = (side: 'from' | 'to') => (
    <input
      type="radio"
      className={classes['choice']}
      name={side}
      aria-label={`Compare ${side} serial ${attributes.serial}`}
      disabled={!hasFile}
      checked={comparison[side] === id}
      onChange={() => onCompare({ ...comparison, [side]: id })}
    />
  );
  return (
    <Table.Tr>
      <Table.Td>{choose('from')}</Table.Td>
      <Table.Td>{choose('to')}</Table.Td>
      <Table.Td>
        {attributes.serial.toLocaleString()}{' '}
        {id === current && (
          <Badge color="green" miw="max-content">
            Current
          </Badge>
        )}
        <div className={tableClasses['narrow']}>
          <Time value={attributes['created-at']} /> by {holder}
        </div>
        <div className={tableClasses['narrow']}>
          Terraform {terraform}, {status}
        </div>
      </Table.Td>
      <Table.Td className={tableClasses['wide']}>
        <Time value={attributes['created-at']} />
      </Table.Td>
      <Table.Td className={tableClasses['wide']}>{holder}</Table.Td>
      <Table.Td className={tableClasses['wide']}>{terraform}</Table.Td>
      <Table.Td className={tableClasses['wide']}>{status}</Table.Td>
      <Table.Td ta="right">
        {previous?.attributes.status === 'finalized' && hasFile && (
          <Button
            size="compact-sm"
            variant="default"
            aria-label={`Show what serial ${attributes.serial} changed`}
            onClick={() => onCompare({ from: previous.id, to: id })}
          >
            Changes
          </Button>
        )}
      </Table.Td>
    </Table.Tr>
  );
};

/** The state versions, the newest first. */
export const VersionTable = ({ pages, ...props }: TableProps) => {
  const versions = pages.flatMap((page) => page.data.map((version) => ({ page, version })));
  return (
    <WideTable label="State versions">
      <Table.Thead>
        <Table.Tr>
          {['From', 'To', 'Serial'].map((heading) => (
            <Table.Th key={heading}>{heading}</Table.Th>
          ))}
          {['Created', 'Created by', 'Terraform', 'Status'].map((heading) => (
            <Table.Th key={heading} className={tableClasses['wide']}>
              {heading}
            </Table.Th>
          ))}
          <Table.Th>
            <VisuallyHidden>Comparison</VisuallyHidden>
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {versions.map(({ page, version }, index) => (
          <VersionRow
            key={version.id}
            page={page}
            version={version}
            previous={versions[index + 1]?.version}
            {...props}
          />
        ))}
      </Table.Tbody>
    </WideTable>
  );
};
