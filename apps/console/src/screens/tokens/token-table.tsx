import type { AuthenticationToken } from '../../api/tokens.js';
import { DataTable, type DataColumn } from '../../components/data-table.js';
import { LongText } from '../../components/long-text.js';
import { Time } from '../../components/times.js';
import { TokenEnd } from '../../components/token-end.js';

export type ListedToken = { readonly id: string; readonly owner: string; readonly token: AuthenticationToken };

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
