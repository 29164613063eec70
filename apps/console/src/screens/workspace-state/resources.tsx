import { Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { resourcesQuery } from '../../api/states.js';
import { DataTable } from '../../components/data-table.js';
import { PagedList } from '../../components/paged-list.js';

export const Resources = ({ workspace }: { readonly workspace: string }) => {
  const query = useInfiniteQuery(resourcesQuery(workspace));
  const empty = (
    <Text size="sm" c="dimmed">
      The state has no resources.
    </Text>
  );
  return (
    <PagedList query={query} what="state" empty={empty}>
      {(resources) => (
        <DataTable
          label="Resources"
          isInCard
          rows={resources}
          columns={[
            { header: 'Address', cell: ({ attributes }) => <code>{attributes.address}</code> },
            { header: 'Provider', cell: ({ attributes }) => attributes.provider },
          ]}
        />
      )}
    </PagedList>
  );
};
