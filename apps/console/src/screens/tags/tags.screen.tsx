import { Group, SegmentedControl, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { ApiError } from '../../api/api-error.js';
import {
  gapRowsQuery,
  reservedKeysQuery,
  TAG_ROWS_IN_PAGE,
  tagRowsQuery,
  type WorkspaceTagsRow,
} from '../../api/tags.js';
import { LockIcon, SearchIcon } from '../../components/icons.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { MatrixGrid } from '../../components/matrix-grid.js';
import { Page } from '../../components/page.js';
import { usePagedRows, type PagedRows } from '../../components/paged-rows.js';
import { SearchField } from '../../components/search-field.js';
import { EmptyState, ErrorState, LoadingLines, NotFoundState } from '../../components/states.js';
import { TagTabs } from './tag-tabs.js';
import { listTagKeys, renderTagCell } from './tag-cell.js';
import { parseTagSearch, type TagSearch } from './tags.search.js';
import classes from './tags.module.css';

const LinkedTagDialog = lazyComponent(() => import('../../components/tag-dialog.js'), 'LinkedTagDialog');

const TagComplianceChart = lazyComponent(() => import('../../charts/tag-compliance.js'), 'TagComplianceChart');

/* Empty matrices need code that one with rows does not. */
const NoGap = lazyComponent(() => import('./empty-tags.js'), 'NoGap', <LoadingLines count={8} height={32} />);
const NoWorkspace = lazyComponent(
  () => import('../../components/no-workspace.js'),
  'NoWorkspace',
  <LoadingLines count={8} height={32} />,
);
const NoTag = lazyComponent(() => import('./empty-tags.js'), 'NoTag', <LoadingLines count={8} height={32} />);

type MatrixProps = {
  readonly organization: string;
  readonly rows: PagedRows<WorkspaceTagsRow>;
  readonly count: number;
  readonly reservedKeys: ReadonlySet<string>;
  readonly keys: readonly string[];
};

const TagMatrix = ({ organization, rows, count, reservedKeys, keys }: MatrixProps) => {
  const [opened, setOpened] = useState<{ readonly workspace: WorkspaceTagsRow; readonly tagKey: string } | null>(null);
  return (
    <>
      <MatrixGrid
        label="Tags of workspaces"
        corner="Workspace"
        count={count}
        columns={keys.map((key) => ({
          id: key,
          label: reservedKeys.has(key) ? `${key}, reserved` : key,
          header: reservedKeys.has(key) ? (
            <span className={classes['reserved']}>
              <LockIcon size={12} />
              {key}
            </span>
          ) : (
            key
          ),
        }))}
        getRow={(index) => {
          const row = rows.getRow(index);
          return row && { label: `${row.name}, project ${row.project}`, header: row.name };
        }}
        getCell={(index, column) => {
          const [row, key = ''] = [rows.getRow(index), keys[column]];
          if (!row) return { label: 'Loading', content: null };
          return renderTagCell({ row, key, isReserved: reservedKeys.has(key) });
        }}
        onRange={rows.onRange}
        onOpen={(index, column) => {
          const [row, tagKey] = [rows.getRow(index), keys[column]];
          if (row && tagKey !== undefined) setOpened({ workspace: row, tagKey });
        }}
      />
      {opened && <LinkedTagDialog organization={organization} {...opened} onClose={() => setOpened(null)} />}
    </>
  );
};

type NoRowProps = { readonly organization: string; readonly hasReservedKeys: boolean };

const NoRow = ({ organization, hasReservedKeys }: NoRowProps) => {
  const { name = '', view } = useSearch({ from: '/$organization/tags' });
  if (view === 'gaps') return <NoGap hasReservedKeys={hasReservedKeys} organization={organization} />;
  if (name === '') return <NoWorkspace organization={organization} />;
  return (
    <EmptyState icon={SearchIcon} title="No workspace matches">
      <Text>You may read no workspace with this text in its name.</Text>
    </EmptyState>
  );
};

const Content = ({ organization }: { readonly organization: string }) => {
  const { name = '', view } = useSearch({ from: '/$organization/tags' });
  const reserved = useQuery(reservedKeysQuery(organization));
  const rows = usePagedRows(TAG_ROWS_IN_PAGE, (page) =>
    view === 'gaps' ? gapRowsQuery(organization, page) : tagRowsQuery(organization, name, page),
  );
  const error = rows.error ?? reserved.error;
  if (error instanceof ApiError && error.isNotFound) return <NotFoundState what="organization" />;
  if (error) return <ErrorState error={error} onRetry={rows.retry} />;
  if (rows.total === undefined || !reserved.data) return <LoadingLines count={8} height={32} />;
  if (rows.total === 0) return <NoRow organization={organization} hasReservedKeys={reserved.data.length > 0} />;
  const keys = listTagKeys(reserved.data, rows.loaded);
  if (keys.length === 0) return <NoTag />;
  const reservedKeys = new Set(reserved.data.map(({ attributes }) => attributes.key));
  return (
    <TagMatrix
      key={`${view ?? ''} ${name}`}
      organization={organization}
      rows={rows}
      count={rows.total}
      reservedKeys={reservedKeys}
      keys={keys}
    />
  );
};

const Toolbar = () => {
  const { name = '', view } = useSearch({ from: '/$organization/tags' });
  const navigate = useNavigate({ from: '/$organization/tags' });
  const change = (search: TagSearch) => void navigate({ search: parseTagSearch(search), replace: true });
  return (
    <Group gap="sm" mb="0.75rem">
      <SegmentedControl
        transitionDuration={0}
        aria-label="Workspaces to show"
        data={[
          { value: 'all', label: 'All workspaces' },
          { value: 'gaps', label: 'With gaps' },
          { value: 'projects', label: 'By project' },
        ]}
        value={view ?? 'all'}
        onChange={(value) => change(value === 'gaps' || value === 'projects' ? { view: value } : {})}
      />
      {view === undefined && (
        <SearchField label="Search workspaces by name" text={name} onText={(next) => change({ name: next })} />
      )}
      {view === undefined && (
        <Text size="sm" c="dimmed">
          Gray values come from the project.
        </Text>
      )}
    </Group>
  );
};

/** The tags of all workspaces, and where a reserved key has no value. */
export const TagsScreen = () => {
  const { organization } = useParams({ from: '/$organization/tags' });
  const { view } = useSearch({ from: '/$organization/tags' });
  return (
    <Page title="Tags" isFilled>
      <TagTabs organization={organization} />
      <Toolbar />
      {view === 'projects' ? (
        <TagComplianceChart organization={organization} />
      ) : (
        <Content organization={organization} />
      )}
    </Page>
  );
};
