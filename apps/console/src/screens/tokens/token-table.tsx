import { Badge, Text } from '@mantine/core';
import type { AuthenticationToken } from '../../api/tokens.js';
import { DataTable, type DataColumn } from '../../components/data-table.js';
import { LongText } from '../../components/long-text.js';
import { Time, useNow } from '../../components/times.js';

const SOON_MS = 14 * 24 * 60 * 60_000;

export type ListedToken = { readonly id: string; readonly owner: string; readonly token: AuthenticationToken };

/** The end of a token. An end within two weeks stands out. */
const TokenEnd = ({ end }: { readonly end: string | null }) => {
  const now = useNow();
  if (end === null) return <>Never</>;
  const distance = new Date(end).getTime() - now;
  if (distance <= 0) {
    return <Badge color="red">Expired</Badge>;
  }
  if (distance > SOON_MS) return <Time value={end} />;
  return (
    <Text span size="sm" fw={600} c="var(--console-warning)">
      <Time value={end} />
    </Text>
  );
};

type TokenTableProps = {
  readonly label: string;
  /** Whether all tokens have the same owner, which the screen names. */
  readonly isOfOneOwner?: boolean;
  readonly rows: readonly ListedToken[];
  readonly onRevoke: (row: ListedToken) => void;
};

export const describeToken = ({ owner, token }: ListedToken): string => {
  const { description } = token.attributes;
  return description ? `${description} of ${owner}` : `the token of ${owner} without a description`;
};

export const TokenTable = ({ label, isOfOneOwner = false, rows, onRevoke }: TokenTableProps) => {
  const columns: readonly DataColumn<ListedToken>[] = [
    ...(isOfOneOwner ? [] : [{ header: 'Owner', cell: ({ owner }: ListedToken) => owner }]),
    {
      header: 'Description',
      cell: ({ token }) => <LongText text={token.attributes.description || '–'} />,
    },
    { header: 'Created', isWide: true, cell: ({ token }) => <Time value={token.attributes['created-at']} /> },
    {
      header: 'Last used',
      isWide: true,
      cell: ({ token: { attributes } }) =>
        attributes['last-used-at'] === null ? 'Never' : <Time value={attributes['last-used-at']} />,
    },
    { header: 'Ends', cell: ({ token }) => <TokenEnd end={token.attributes['expired-at']} /> },
  ];
  return (
    <DataTable
      label={label}
      rows={rows}
      columns={columns}
      isInCard={isOfOneOwner}
      actions={(row) => ({
        name: describeToken(row),
        actions: [{ action: 'Revoke', isDangerous: true, onClick: () => onRevoke(row) }],
      })}
    />
  );
};
