import { Badge, Group, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { toolVersionsQuery, type ToolVersion } from '../../api/tool-versions.js';
import { formatCount } from '../../components/counts.js';
import { CreateButton } from '../../components/create-button.js';
import { DataTable, NarrowLine, type DataColumn } from '../../components/data-table.js';
import { RunIcon } from '../../components/icons.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { PagedList } from '../../components/paged-list.js';
import { SearchField } from '../../components/search-field.js';
import { EmptyState } from '../../components/states.js';
import { SitePage } from '../site/site-page.js';
import { listVersionActions, VERSION_ACTIONS, type ToolVersionAction } from './version-actions.js';

const loadDialogs = () => import('./version-dialogs.js');
const AddVersionDialog = lazyComponent(loadDialogs, 'AddVersionDialog');
const VersionActionDialog = lazyComponent(loadDialogs, 'VersionActionDialog');

const FROM = '/~site/tool-versions';

const describeUsage = ({ attributes: { usage } }: ToolVersion): string =>
  usage === 0 ? 'None' : formatCount(usage, 'workspace');

const describeArchives = ({ attributes: { archs } }: ToolVersion): string =>
  archs.length === 0 ? 'Of the publisher' : archs.map(({ os, arch }) => `${os}/${arch}`).join(', ');

const VersionBadges = ({ attributes: { enabled, official, beta, deprecated } }: ToolVersion) => (
  <Group gap={4}>
    {!enabled && <Badge color="gray">Disabled</Badge>}
    {deprecated && <Badge color="yellow">Deprecated</Badge>}
    {beta && <Badge color="blue">Beta</Badge>}
    {!official && <Badge variant="default">Own build</Badge>}
    {enabled && !deprecated && !beta && official && <Badge color="green">Enabled</Badge>}
  </Group>
);

const COLUMNS: readonly DataColumn<ToolVersion>[] = [
  {
    header: 'Version',
    cell: (version) => (
      <>
        <code>{version.attributes.version}</code>
        <NarrowLine>{describeArchives(version)}</NarrowLine>
      </>
    ),
  },
  {
    header: 'Status',
    cell: (version) => (
      <>
        <VersionBadges {...version} />
        {version.attributes['deprecated-reason'] !== null && (
          <Text size="xs" c="dimmed">
            {version.attributes['deprecated-reason']}
          </Text>
        )}
      </>
    ),
  },
  { header: 'Used by', align: 'right', cell: describeUsage },
  { header: 'Archives', isWide: true, cell: describeArchives },
];

type OpenAction = { readonly action: ToolVersionAction; readonly version: ToolVersion };

/** The releases of Terraform and OpenTofu that workspaces may choose, for site administrators. */
export const SiteToolVersionsScreen = () => {
  const { version: search = '' } = useSearch({ from: FROM });
  const navigate = useNavigate({ from: FROM });
  const query = useInfiniteQuery(toolVersionsQuery(search));
  const [isAdding, dialog] = useDisclosure(false);
  const [opened, setOpened] = useState<OpenAction | null>(null);
  return (
    <SitePage
      title="Tool versions"
      description="The releases of Terraform and OpenTofu that workspaces may choose. A workspace keeps its version if you disable it."
      error={query.error}
      actions={<CreateButton label="Add a version" isPermitted={query.data ? true : undefined} onClick={dialog.open} />}
    >
      <Group mb="md">
        <SearchField
          label="Search versions"
          placeholder="1.11"
          text={search}
          onText={(text) => void navigate({ search: text === '' ? {} : { version: text }, replace: true })}
        />
      </Group>
      <PagedList
        query={query}
        what="list"
        empty={
          <EmptyState icon={RunIcon} title="No version matches">
            <Text>Search for another text, or add a version with the address and the checksum of its archive.</Text>
          </EmptyState>
        }
      >
        {(versions) => (
          <DataTable
            label="Versions"
            rows={versions}
            columns={COLUMNS}
            actions={(version) => ({
              name: version.attributes.version,
              actions: listVersionActions(version).map(({ action, refusal }) => ({
                action: VERSION_ACTIONS[action].action,
                isDangerous: action === 'delete',
                refusal,
                onClick: () => setOpened({ action, version }),
              })),
            })}
          />
        )}
      </PagedList>
      {isAdding && <AddVersionDialog onClose={dialog.close} />}
      {opened && <VersionActionDialog {...opened} onClose={() => setOpened(null)} />}
    </SitePage>
  );
};
