import { Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { factSourcesQuery, type FactSource } from '../../api/organization-policies.js';
import { CreateButton } from '../../components/create-button.js';
import { DataTable, type DataColumn } from '../../components/data-table.js';
import { AuditTrailIcon } from '../../components/icons.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { Page } from '../../components/page.js';
import { PagedList } from '../../components/paged-list.js';
import { EmptyState } from '../../components/states.js';
import { Time } from '../../components/times.js';

const AddSourceDialog = lazyComponent(() => import('./fact-source-dialogs.js'), 'AddSourceDialog');
const RemoveSourceDialog = lazyComponent(() => import('./fact-source-dialogs.js'), 'RemoveSourceDialog');

const COLUMNS: readonly DataColumn<FactSource>[] = [
  { header: 'Source', cell: ({ attributes }) => <code>{attributes.source}</code> },
  { header: 'Description', isWide: true, cell: ({ attributes }) => attributes.description || '–' },
  { header: 'Created', isWide: true, cell: ({ attributes }) => <Time value={attributes['created-at']} /> },
];

const NoSource = () => (
  <EmptyState icon={AuditTrailIcon} title="No service is listed">
    <Text>
      A service that reports by Kafka needs an entry here. Services that report by the API need only the token of the
      organization.
    </Text>
  </EmptyState>
);

/** The services that may add entries to the audit trail by Kafka. */
export const FactSourcesScreen = () => {
  const { organization } = useParams({ from: '/$organization/settings/fact-sources' });
  const [isAdding, dialog] = useDisclosure(false);
  const [removed, setRemoved] = useState<FactSource | null>(null);
  const query = useInfiniteQuery(factSourcesQuery(organization));
  return (
    <Page
      title="Fact sources"
      description="Services that add entries to the audit trail by Kafka, such as policy checks."
      actions={<CreateButton label="Add a source" isPermitted={query.data ? true : undefined} onClick={dialog.open} />}
    >
      <PagedList query={query} what="organization" empty={<NoSource />}>
        {(sources) => (
          <DataTable
            label="Fact sources"
            rows={sources}
            columns={COLUMNS}
            actions={(source) => ({
              name: source.attributes.source,
              actions: [{ action: 'Remove', isDangerous: true, onClick: () => setRemoved(source) }],
            })}
          />
        )}
      </PagedList>
      {isAdding && <AddSourceDialog organization={organization} onClose={dialog.close} />}
      {removed && <RemoveSourceDialog organization={organization} source={removed} onClose={() => setRemoved(null)} />}
    </Page>
  );
};
