import { Table, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { resourcesQuery } from '../../api/states.js';
import { LoadMore } from '../../components/load-more.js';
import { ErrorState, LoadingLines } from '../../components/states.js';
import { WideTable } from '../../components/wide-table.js';

export const Resources = ({ workspace }: { readonly workspace: string }) => {
  const query = useInfiniteQuery(resourcesQuery(workspace));
  if (query.error) return <ErrorState error={query.error} onRetry={() => void query.refetch()} />;
  if (!query.data) return <LoadingLines />;
  const resources = query.data.pages.flatMap(({ data }) => data);
  if (resources.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        The state has no resources.
      </Text>
    );
  }
  return (
    <>
      <WideTable label="Resources">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Address</Table.Th>
            <Table.Th>Provider</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {resources.map(({ id, attributes }) => (
            <Table.Tr key={id}>
              <Table.Td>
                <code>{attributes.address}</code>
              </Table.Td>
              <Table.Td>{attributes.provider}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </WideTable>
      {query.hasNextPage && (
        <div>
          <LoadMore query={query} />
        </div>
      )}
    </>
  );
};
