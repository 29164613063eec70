import { Stack, Text } from '@mantine/core';
import { useInfiniteQuery, useQuery, type InfiniteData, type UseInfiniteQueryResult } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { stateVersionsQuery, type StateVersionPage } from '../../api/states.js';
import { workspaceQuery, type WorkspaceDocument } from '../../api/workspaces.js';
import { Card } from '../../components/card.js';
import { ResourceIcon } from '../../components/icons.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { LoadMore } from '../../components/load-more.js';
import { EmptyState, ErrorState, LoadingLines } from '../../components/states.js';
import { UploadButton } from './upload-button.js';
import { useVersionActions } from './version-actions.js';

/** Its parts need code that a list with versions does not. */
const NoVersion = lazyComponent(() => import('./no-version.js'), 'NoVersion', <LoadingLines count={6} />);
const VersionTable = lazyComponent(() => import('./version-table.js'), 'VersionTable', <LoadingLines count={6} />);
const Comparison = lazyComponent(() => import('./comparison.js'), 'Comparison', <LoadingLines />);

type LoadedQuery = Extract<UseInfiniteQueryResult<InfiniteData<StateVersionPage>>, { status: 'success' }>;

const ROUTE = '/$organization/workspaces/$workspace/states';

const formatTitle = (pages: readonly StateVersionPage[], from: string, to: string): string => {
  // A version of an earlier page has no serial here.
  const describe = (id: string): string => {
    const version = pages.flatMap(({ data }) => data).find((each) => each.id === id);
    return version ? `serial ${version.attributes.serial}` : id;
  };
  return `From ${describe(from)} to ${describe(to)}`;
};

type VersionsProps = { readonly organization: string; readonly workspace: WorkspaceDocument };

const LoadedVersions = ({ organization, workspace, query }: VersionsProps & { readonly query: LoadedQuery }) => {
  const { from, to } = useSearch({ from: ROUTE });
  const navigate = useNavigate({ from: ROUTE });
  const { pages } = query.data;
  const { dialog, ...actions } = useVersionActions(organization, workspace, pages);
  const upload = <UploadButton organization={organization} workspace={workspace} />;
  if (pages.every(({ data }) => data.length === 0)) return <NoVersion>{upload}</NoVersion>;
  return (
    <Stack>
      <Text size="sm" c="dimmed">
        Choose two versions to compare. The audit trail records that you read the states.
      </Text>
      {from !== undefined && to !== undefined && (
        <Comparison key={`${from} ${to}`} from={from} to={to} title={formatTitle(pages, from, to)} />
      )}
      <Card title="State versions" actions={upload}>
        <VersionTable
          pages={pages}
          current={workspace.data.relationships['current-state-version'].data?.id ?? null}
          comparison={{ from, to }}
          onCompare={(search) => void navigate({ search, replace: true })}
          {...actions}
        />
        {query.hasNextPage && (
          <div>
            <LoadMore query={query}>Load earlier versions</LoadMore>
          </div>
        )}
      </Card>
      {dialog}
    </Stack>
  );
};

const Versions = (props: VersionsProps) => {
  const query = useInfiniteQuery(stateVersionsQuery(props.workspace.data.id));
  if (query.error) return <ErrorState error={query.error} onRetry={() => void query.refetch()} />;
  if (!query.data) return <LoadingLines count={6} />;
  return <LoadedVersions {...props} query={query} />;
};

/** The states that a workspace has had, and what differs between two of them. */
export const StateVersionsScreen = () => {
  const { organization, workspace: name } = useParams({ from: ROUTE });
  const { data } = useQuery(workspaceQuery(organization, name));
  if (!data) return null;
  if (!data.data.attributes.permissions['can-read-state-versions']) {
    return (
      <EmptyState icon={ResourceIcon} title="You may not read the states">
        <Text>
          Ask an owner of the organization for a team with read access to the state versions of this workspace.
        </Text>
      </EmptyState>
    );
  }
  return <Versions organization={organization} workspace={data} />;
};
