import { Badge, Text } from '@mantine/core';
import { useQueries } from '@tanstack/react-query';
import { platformsQuery, type ProviderPlatform, type ProviderVersion } from '../../api/registry.js';
import { DataTable, type DataColumn } from '../../components/data-table.js';
import { CheckIcon } from '../../components/icons.js';
import { Time } from '../../components/times.js';
import classes from './provider.module.css';

const NEEDS_RIGHT = 'You need a team with the right to manage providers.';

const State = ({ isDone, done, open }: { readonly isDone: boolean; readonly done: string; readonly open: string }) => (
  <span className={isDone ? classes['done'] : classes['open']}>
    {isDone && <CheckIcon size={14} />} {isDone ? done : open}
  </span>
);

const formatPlatform = ({ attributes: { os, arch } }: ProviderPlatform): string => `${os}/${arch}`;

type MatrixProps = {
  readonly organization: string;
  readonly provider: string;
  readonly versions: readonly ProviderVersion[];
  readonly onDelete: (version: string) => void;
};

type VersionRow = ProviderVersion & { readonly platforms: readonly ProviderPlatform[] | undefined };

const Platform = ({ row, column }: { readonly row: VersionRow; readonly column: string }) => {
  if (!row.platforms) return '…';
  const platform = row.platforms.find((each) => formatPlatform(each) === column);
  return platform ? (
    <State isDone={platform.attributes['provider-binary-uploaded']} done="uploaded" open="zip missing" />
  ) : (
    '–'
  );
};

const Status = ({ row: { attributes } }: { readonly row: VersionRow }) => {
  const { usable, missing } = attributes;
  return (
    <>
      <Badge color={usable ? 'green' : 'yellow'}>{usable ? 'Can be installed' : 'Incomplete'}</Badge>
      {missing.length > 0 && (
        <Text size="xs" c="dimmed" mt={4}>
          Missing: {missing.join(', ')}
        </Text>
      )}
    </>
  );
};

const Signature = ({ row: { attributes } }: { readonly row: VersionRow }) => (
  <>
    <State isDone={attributes['shasums-sig-uploaded']} done="signature verified" open="no valid signature" />
    {', key '}
    <code>{attributes['key-id']}</code>
  </>
);

const COLUMNS: readonly DataColumn<VersionRow>[] = [
  { header: 'Version', cell: ({ attributes }) => attributes.version },
  { header: 'Published', cell: ({ attributes }) => <Time value={attributes['created-at']} /> },
  { header: 'Status', cell: (row) => <Status row={row} /> },
  {
    header: 'Checksums',
    cell: ({ attributes }) => <State isDone={attributes['shasums-uploaded']} done="checksums" open="no SHA256SUMS" />,
  },
  { header: 'Signature', cell: (row) => <Signature row={row} /> },
];

/** Versions and platforms, with what each lacks. */
export const VersionMatrix = ({ organization, provider, versions, onDelete }: MatrixProps) => {
  const results = useQueries({
    queries: versions.map(({ attributes }) => platformsQuery(organization, provider, attributes.version)),
  });
  const platforms = [...new Set(results.flatMap(({ data = [] }) => data.map(formatPlatform)))].toSorted();
  const columns = [
    ...COLUMNS,
    ...platforms.map((column) => ({
      header: column,
      cell: (row: VersionRow) => <Platform row={row} column={column} />,
    })),
  ];
  return (
    <DataTable
      label="Versions"
      canScroll
      rows={versions.map((version, index) => ({ ...version, platforms: results[index]?.data }))}
      columns={columns}
      actions={({ attributes: { version, permissions } }) => ({
        name: `version ${version}`,
        actions: [
          {
            action: 'Delete',
            isDangerous: true,
            refusal: permissions['can-delete'] ? undefined : NEEDS_RIGHT,
            onClick: () => onDelete(version),
          },
        ],
      })}
    />
  );
};
