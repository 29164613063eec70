import { Badge, Group, SegmentedControl, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { toolVersionsQuery, toVersionType, type ToolVersion } from '../../api/tool-versions.js';
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
import { PROGRAM_WORDS } from './version-programs.js';

const loadDialogs = () => import('./version-dialogs.js');
const AddVersionDialog = lazyComponent(loadDialogs, 'AddVersionDialog');
const VersionActionDialog = lazyComponent(loadDialogs, 'VersionActionDialog');

const FROM = '/~site/tool-versions';

const PROGRAMS = Object.entries(PROGRAM_WORDS).map(([value, { label }]) => ({ value, label }));

const describeUsage = ({ attributes: { usage } }: ToolVersion): string =>
  usage === 0 ? 'None' : formatCount(usage, 'workspace');

const describeArchives = ({ attributes: { archs } }: ToolVersion): string =>
  archs.every(({ sha }) => sha === null) ? 'Of the publisher' : archs.map(({ os, arch }) => `${os}/${arch}`).join(', ');

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

/** Chooses the program, and searches its versions. */
const VersionFilter = () => {
  const { program, version: search = '' } = useSearch({ from: FROM });
  const navigate = useNavigate({ from: FROM });
  return (
    <Group mb="md">
      <SegmentedControl
        transitionDuration={0}
        aria-label="Program"
        data={PROGRAMS}
        value={toVersionType(program)}
        onChange={(value) => void navigate({ search: value === 'opa-versions' ? { program: 'opa' } : {} })}
      />
      <SearchField
        label="Search versions"
        placeholder="1.11"
        text={search}
        onText={(text) =>
          void navigate({
            search: { ...(program ? { program } : {}), ...(text === '' ? {} : { version: text }) },
            replace: true,
          })
        }
      />
    </Group>
  );
};

/** The releases of Terraform and OpenTofu, and of OPA, for site administrators. */
export const SiteToolVersionsScreen = () => {
  const { program, version: search = '' } = useSearch({ from: FROM });
  const type = toVersionType(program);
  const query = useInfiniteQuery(toolVersionsQuery(type, search));
  const [isAdding, dialog] = useDisclosure(false);
  const [opened, setOpened] = useState<OpenAction | null>(null);
  return (
    <SitePage
      title="Tool versions"
      description={PROGRAM_WORDS[type].description}
      error={query.error}
      actions={<CreateButton label="Add a version" isPermitted={query.data ? true : undefined} onClick={dialog.open} />}
    >
      <VersionFilter />
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
      {isAdding && <AddVersionDialog type={type} onClose={dialog.close} />}
      {opened && <VersionActionDialog {...opened} onClose={() => setOpened(null)} />}
    </SitePage>
  );
};
