import { Alert, Button, Text } from '@mantine/core';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';
import { ApiError } from '../../api/api-error.js';
import { useExactTimes } from '../../components/exact-times.js';
import { SearchIcon } from '../../components/icons.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { NewWorkspaceButton } from '../../components/new-workspace-button.js';
import { Page } from '../../components/page.js';
import { EmptyState, ErrorState, LoadingLines, NotFoundState } from '../../components/states.js';
import { VirtualGrid } from '../../components/virtual-grid.js';
import { BulkBar } from './bulk/bulk-bar.js';
import { createWorkspaceColumns } from './workspace-columns.js';
import { useOpenedView } from './views/opened-view.js';
import { ViewsButton } from './views/views-button.js';
import { useWorkspacePages, type WorkspaceList } from './workspace-pages.js';
import { useWorkspaceSelection } from './workspace-selection.js';
import { WorkspaceToolbar } from './workspace-toolbar.js';
import {
  getApiSearch,
  NO_FILTERS,
  parseWorkspaceSearch,
  type ChangeSearch,
  type ListSearch,
} from './workspaces.search.js';

const DEFAULT_SORT = 'name';

/* Parts of empty lists need code that a list with workspaces does not. */
const NoWorkspace = lazyComponent(
  () => import('../../components/no-workspace.js'),
  'NoWorkspace',
  <LoadingLines count={8} height={40} />,
);

const EmptyProject = lazyComponent(
  () => import('./empty-project.js'),
  'EmptyProject',
  <LoadingLines count={8} height={40} />,
);

const NoMatch = ({ onClear }: { readonly onClear: () => void }) => (
  <EmptyState icon={SearchIcon} title="No workspace matches">
    <Text>The filters exclude every workspace that you may read.</Text>
    <div>
      <Button variant="default" onClick={onClear}>
        Show all workspaces
      </Button>
    </div>
  </EmptyState>
);

const MissingView = ({ onClose }: { readonly onClose: () => void }) => (
  <Alert color="yellow" mb="sm" role="alert" withCloseButton closeButtonLabel="Close" onClose={onClose}>
    This saved view does not exist any more, or it is private.
  </Alert>
);

type ContentProps = {
  readonly organization: string;
  readonly search: ListSearch;
  readonly list: WorkspaceList;
  readonly onChange: ChangeSearch;
};

type SelectableGridProps = ContentProps & { readonly total: number; readonly sort: string };

const SelectableGrid = ({ organization, search, list, total, sort, onChange }: SelectableGridProps) => {
  const navigate = useNavigate();
  const { columns: chosen } = search;
  const isExact = useExactTimes();
  const columns = useMemo(
    () => createWorkspaceColumns(organization, { chosen, isExact }),
    [organization, chosen, isExact],
  );
  const selection = useWorkspaceSelection(organization, getApiSearch(search), list);
  return (
    <>
      {selection.ids.length > 0 && <BulkBar organization={organization} selection={selection} total={total} />}
      <VirtualGrid
        label="Workspaces"
        columns={columns}
        count={total}
        getRow={list.getRow}
        getRowId={({ id }) => id}
        onRange={list.onRange}
        onOpen={({ name }) => void navigate({ to: `/${organization}/workspaces/${name}` })}
        sort={sort}
        onSort={(next) => onChange(parseWorkspaceSearch({ sort: next }))}
        selection={selection.grid}
      />
    </>
  );
};

const WorkspaceListContent = (props: ContentProps) => {
  const { organization, search, list, onChange } = props;
  if (list.error) return <ErrorState error={list.error} onRetry={list.retry} />;
  if (list.total === undefined) return <LoadingLines count={8} height={40} />;
  const { sort = DEFAULT_SORT, ...filters } = getApiSearch(search);
  if (list.total === 0) {
    const clear = () => onChange({ ...NO_FILTERS, name: undefined });
    const { project, ...others } = filters;
    if (Object.values(others).some((value) => value !== undefined)) return <NoMatch onClear={clear} />;
    return project === undefined ? (
      <NoWorkspace organization={organization} />
    ) : (
      <EmptyProject organization={organization} project={project} onClear={clear} />
    );
  }
  // Another filter begins at the first row, and with no row selected.
  return <SelectableGrid key={JSON.stringify(filters)} {...props} total={list.total} sort={sort} />;
};

/** The workspaces of an organization: any number of them. */
export const WorkspacesScreen = () => {
  const { organization } = useParams({ from: '/$organization/workspaces' });
  const search = useSearch({ from: '/$organization/workspaces' });
  const navigate = useNavigate({ from: '/$organization/workspaces' });
  const list = useWorkspacePages(organization, getApiSearch(search));
  const change: ChangeSearch = useCallback(
    (changes) => void navigate({ search: (before) => parseWorkspaceSearch({ ...before, ...changes }), replace: true }),
    [navigate],
  );
  const opened = useOpenedView(organization, search, change);
  if (list.error instanceof ApiError && list.error.isNotFound) {
    return (
      <Page title="Workspaces">
        <NotFoundState what="organization" />
      </Page>
    );
  }
  return (
    <Page
      title="Workspaces"
      actions={
        <>
          <ViewsButton organization={organization} search={search} opened={opened} />
          <NewWorkspaceButton command="New workspace" organization={organization} project={search.project} />
        </>
      }
      isFilled
    >
      {opened.isMissing && <MissingView onClose={() => change({ view: undefined })} />}
      <WorkspaceToolbar organization={organization} search={search} list={list} onChange={change} />
      <WorkspaceListContent organization={organization} search={search} list={list} onChange={change} />
    </Page>
  );
};
