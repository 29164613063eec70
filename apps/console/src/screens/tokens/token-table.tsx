import { Badge, Button, Table, Text } from '@mantine/core';
import type { AuthenticationToken } from '../../api/tokens.js';
import { LongText } from '../../components/long-text.js';
import { Time, useNow } from '../../components/times.js';
import classes from '../../components/table-frame.module.css';

const SOON_MS = 14 * 24 * 60 * 60_000;

export type ListedToken = { readonly owner: string; readonly token: AuthenticationToken };

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
  readonly rows: readonly ListedToken[];
  readonly onRevoke: (row: ListedToken) => void;
};

export const describeToken = ({ owner, token }: ListedToken): string => {
  const { description } = token.attributes;
  return description ? `${description} of ${owner}` : `the token of ${owner} without a description`;
};

export const TokenTable = ({ label, rows, onRevoke }: TokenTableProps) => (
  <div className={classes['frame']}>
    <Table verticalSpacing="sm" horizontalSpacing="md" aria-label={label}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Owner</Table.Th>
          <Table.Th className={classes['wide']}>Created</Table.Th>
          <Table.Th className={classes['wide']}>Last used</Table.Th>
          <Table.Th>Ends</Table.Th>
          <Table.Th>Actions</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map((row) => {
          const { attributes, id } = row.token;
          return (
            <Table.Tr key={id}>
              <Table.Td>
                <b>{row.owner}</b>
                <Text size="sm" c="dimmed" component="div">
                  <LongText text={attributes.description || 'No description'} />
                </Text>
              </Table.Td>
              <Table.Td className={classes['wide']}>
                <Time value={attributes['created-at']} />
              </Table.Td>
              <Table.Td className={classes['wide']}>
                {attributes['last-used-at'] === null ? 'Never' : <Time value={attributes['last-used-at']} />}
              </Table.Td>
              <Table.Td>
                <TokenEnd end={attributes['expired-at']} />
              </Table.Td>
              <Table.Td>
                <Button
                  size="compact-sm"
                  variant="subtle"
                  color="red"
                  aria-label={`Revoke ${describeToken(row)}`}
                  onClick={() => onRevoke(row)}
                >
                  Revoke
                </Button>
              </Table.Td>
            </Table.Tr>
          );
        })}
      </Table.Tbody>
    </Table>
  </div>
);
