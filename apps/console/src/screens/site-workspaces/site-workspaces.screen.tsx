import { Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { linkOptions, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { siteWorkspacesQuery, type SiteWorkspace } from '../../api/site-workspaces.js';
import { DataTable, NarrowLine, type DataColumn } from '../../components/data-table.js';
import { FilterBar } from '../../components/filter-bar.js';
import { WorkspaceIcon } from '../../components/icons.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { PagedList } from '../../components/paged-list.js';
import { RunStatusBadge } from '../../components/run-status.js';
import { EmptyState } from '../../components/states.js';
import { TextLink } from '../../components/text-link.js';
import { Time } from '../../components/times.js';
import { SitePage } from '../site/site-page.js';
import { parseSiteWorkspaceSearch } from './site-workspaces.search.js';

const DeleteSiteWorkspaceDialog = lazyComponent(
  () => import('./delete-workspace-dialog.js'),
  'DeleteSiteWorkspaceDialog',
);

const FROM = '/~site/workspaces';

const RunOfWorkspace = ({ workspace: { run } }: { readonly workspace: SiteWorkspace }) =>
  run === null ? (
    'No run'
  ) : (
    <RunStatusBadge run={{ status: run.attributes.status, hasChanges: run.attributes['has-changes'] }} />
  );

const COLUMNS: readonly DataColumn<SiteWorkspace>[] = [
  {
    header: 'Workspace',
    isFilling: true,
    cell: ({ attributes: { name }, organization }) => (
      <>
        <TextLink
          to="/$organization/workspaces/$workspace"
          params={{ organization, workspace: name }}
          underline="always"
        >
          {name}
        </TextLink>
        <NarrowLine>{organization}</NarrowLine>
      </>
    ),
  },
  { header: 'Organization', isWide: true, cell: ({ organization }) => organization },
  { header: 'Current run', cell: (workspace) => <RunOfWorkspace workspace={workspace} /> },
  {
    header: 'Run created',
    isWide: true,
    cell: ({ run }) => (run === null ? '–' : <Time value={run.attributes['created-at']} />),
  },
  { header: 'Lock', isWide: true, cell: ({ attributes: { locked } }) => (locked ? 'Locked' : '–') },
];

const FILTERS = [
  { value: '', label: 'All' },
  { value: 'failed', label: 'Failed' },
  { value: 'decisions', label: 'Need a decision' },
  { value: 'active', label: 'In progress' },
];

const Toolbar = () => {
  const search = useSearch({ from: FROM });
  const navigate = useNavigate({ from: FROM });
  const change = (changes: Readonly<Record<string, unknown>>) =>
    void navigate({ search: (before) => parseSiteWorkspaceSearch({ ...before, ...changes }), replace: true });
  return (
    <FilterBar
      label="Search workspaces by name, id or organization"
      placeholder="Search by name, id or organization"
      text={search.name ?? ''}
      onText={(name) => change({ name })}
      statuses={FILTERS}
      status={search.runs ?? ''}
      onStatus={(runs) => change({ runs })}
    />
  );
};

const listActions = ({ attributes: { name }, organization }: SiteWorkspace, onDelete: () => void) => {
  const params = { organization, workspace: name };
  return [
    {
      action: 'Runs',
      label: `Runs of ${name}`,
      link: linkOptions({ to: '/$organization/workspaces/$workspace/runs', params }),
    },
    { action: 'Delete', label: `Delete ${name}`, isDangerous: true, onClick: onDelete },
  ];
};

/** The workspaces of all organizations, for administrators of the site. */
export const SiteWorkspacesScreen = () => {
  const query = useInfiniteQuery(siteWorkspacesQuery(useSearch({ from: FROM })));
  const [deleted, setDeleted] = useState<SiteWorkspace | null>(null);
  const empty = (
    <EmptyState icon={WorkspaceIcon} title="No workspace matches">
      <Text>Search for another text, or show the workspaces with all kinds of runs.</Text>
    </EmptyState>
  );
  return (
    <SitePage title="Workspaces" description="The workspaces of every organization of this site." error={query.error}>
      <Toolbar />
      <PagedList query={query} what="list" empty={empty}>
        {(workspaces) => (
          <DataTable
            label="Workspaces"
            rows={workspaces}
            columns={COLUMNS}
            actions={(workspace) => ({
              name: workspace.attributes.name,
              actions: listActions(workspace, () => setDeleted(workspace)),
            })}
          />
        )}
      </PagedList>
      {deleted && <DeleteSiteWorkspaceDialog workspace={deleted} onClose={() => setDeleted(null)} />}
    </SitePage>
  );
};
