import { Group, Text } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { linkOptions, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { featureSetsQuery, siteOrganizationsQuery, type SiteOrganization } from '../../api/site-organizations.js';
import { DataTable, NarrowLine, type DataColumn } from '../../components/data-table.js';
import { OrganizationIcon } from '../../components/icons.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { PagedList } from '../../components/paged-list.js';
import { SearchField } from '../../components/search-field.js';
import { EmptyState } from '../../components/states.js';
import { TextLink } from '../../components/text-link.js';
import { getOrganizationPath } from '../../navigation.js';
import { SitePage } from '../site/site-page.js';

const DeleteSiteOrganizationDialog = lazyComponent(
  () => import('./delete-organization-dialog.js'),
  'DeleteSiteOrganizationDialog',
);
const FeatureSetDialog = lazyComponent(() => import('./feature-set-dialog.js'), 'FeatureSetDialog');

const FROM = '/~site/organizations';

type OrganizationTableProps = {
  readonly organizations: readonly SiteOrganization[];
  readonly onChange: (organization: SiteOrganization) => void;
  readonly onDelete: (organization: SiteOrganization) => void;
};

const OrganizationTable = ({ organizations, onChange, onDelete }: OrganizationTableProps) => {
  const { data: sets = [] } = useQuery(featureSetsQuery);
  const columns: readonly DataColumn<SiteOrganization>[] = [
    {
      header: 'Organization',
      cell: ({ id, attributes }) => (
        <>
          <TextLink to={getOrganizationPath(id)} underline="always">
            {id}
          </TextLink>
          <NarrowLine>{attributes['notification-email']}</NarrowLine>
        </>
      ),
    },
    { header: 'E-mail address', isWide: true, cell: ({ attributes }) => attributes['notification-email'] },
    { header: 'Owners', cell: ({ owners }) => owners.join(', ') || 'None' },
    {
      header: 'Feature set',
      cell: ({ featureSet }) => sets.find(({ id }) => id === featureSet)?.attributes.name ?? featureSet,
    },
    {
      header: 'Single sign-on',
      isWide: true,
      cell: ({ attributes }) => (attributes['sso-enabled'] ? 'Required' : 'Optional'),
    },
  ];
  return (
    <DataTable
      label="Organizations"
      rows={organizations}
      columns={columns}
      actions={(organization) => ({
        name: organization.id,
        actions: [
          {
            action: 'Feature set',
            label: `Feature set of ${organization.id}`,
            onClick: () => onChange(organization),
          },
          {
            action: 'People',
            label: `People of ${organization.id}`,
            link: linkOptions({ to: '/$organization/people', params: { organization: organization.id } }),
          },
          {
            action: 'Delete',
            label: `Delete ${organization.id}`,
            isDangerous: true,
            onClick: () => onDelete(organization),
          },
        ],
      })}
    />
  );
};

/** All organizations of the site, for its administrators. */
export const SiteOrganizationsScreen = () => {
  const { name = '' } = useSearch({ from: FROM });
  const navigate = useNavigate({ from: FROM });
  const query = useInfiniteQuery(siteOrganizationsQuery(name));
  const [changed, setChanged] = useState<SiteOrganization | null>(null);
  const [deleted, setDeleted] = useState<SiteOrganization | null>(null);
  const empty = (
    <EmptyState icon={OrganizationIcon} title={name === '' ? 'There is no organization' : 'No organization matches'}>
      <Text>The list of your organizations has the button that creates one.</Text>
    </EmptyState>
  );
  return (
    <SitePage
      title="Organizations"
      description="Every organization of this site. You have the access of an owner in each of them."
      error={query.error}
    >
      <Group mb="md">
        <SearchField
          label="Search organizations by name or address"
          placeholder="Search by name or address"
          text={name}
          onText={(text) => void navigate({ search: text === '' ? {} : { name: text }, replace: true })}
        />
      </Group>
      <PagedList query={query} what="list" empty={empty}>
        {(organizations) => (
          <OrganizationTable organizations={organizations} onChange={setChanged} onDelete={setDeleted} />
        )}
      </PagedList>
      {deleted && <DeleteSiteOrganizationDialog organization={deleted} onClose={() => setDeleted(null)} />}
      {changed && <FeatureSetDialog organization={changed} onClose={() => setChanged(null)} />}
    </SitePage>
  );
};
