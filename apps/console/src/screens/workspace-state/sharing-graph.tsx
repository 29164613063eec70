import { Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getSharing, sharingQuery, type SharingDirection, type StateSharing } from '../../api/shared-states.js';
import type { Workspace } from '../../api/workspaces.js';
import { Card } from '../../components/card.js';
import { LoadMore } from '../../components/load-more.js';
import { NeighborGraph } from '../../components/neighbor-graph.js';
import { ErrorState, LoadingLines } from '../../components/states.js';
import { TextLink } from '../../components/text-link.js';

const describeSource = (sharing: StateSharing): string =>
  ({
    organization: 'shares with the organization',
    project: 'shares with its project',
    names: 'names this workspace',
  })[sharing];

const useSharing = (organization: string, workspace: Workspace, direction: SharingDirection) => {
  const query = useInfiniteQuery(sharingQuery(organization, workspace, direction));
  const rows = query.data?.pages.flatMap(({ data }) => data) ?? [];
  const left = (query.data?.pages[0]?.meta.pagination['total-count'] ?? 0) - rows.length;
  const more = (
    <LoadMore size="compact-sm" variant="subtle" query={query}>
      Show more ({left.toLocaleString()} left)
    </LoadMore>
  );
  return { query, rows, more };
};

const describeConsumers = (sharing: StateSharing): string =>
  ({
    organization: 'Runs of all workspaces of the organization may read this state.',
    project: 'Runs of all workspaces of the project may read this state.',
    names: 'Runs of the workspaces that this workspace names may read its state.',
  })[sharing];

type SharingGraphProps = { readonly organization: string; readonly workspace: Workspace };

type GraphSides = Readonly<Record<'sources' | 'consumers', ReturnType<typeof useSharing>>>;

const Graph = ({ organization, workspace, sources, consumers }: SharingGraphProps & GraphSides) => (
  <NeighborGraph
    organization={organization}
    screen="state"
    name={workspace.attributes.name}
    left={{
      title: 'Reads the states of',
      nothing: 'No other workspace',
      neighbors: sources.rows.map(({ id, name, sharing }) => ({ id, name, note: describeSource(sharing) })),
      more: sources.more,
    }}
    right={{
      title: 'Is read by',
      nothing: 'No other workspace',
      neighbors: consumers.rows.map(({ id, name }) => ({ id, name })),
      more: consumers.more,
    }}
  />
);

/** The workspaces that may read the state of this one, and the workspaces whose states it may read. */
export const SharingGraph = ({ organization, workspace }: SharingGraphProps) => {
  const sources = useSharing(organization, workspace, 'remote-state-sources');
  const consumers = useSharing(organization, workspace, 'remote-state-consumers');
  const failed = [sources.query, consumers.query].find(({ error }) => error);
  const isLoading = [sources.query, consumers.query].some(({ data }) => !data);
  return (
    <Card
      title="Shared states"
      actions={
        <TextLink
          to="/$organization/workspaces/$workspace/settings"
          params={{ organization, workspace: workspace.attributes.name }}
          hash="sharing"
        >
          Change who reads it
        </TextLink>
      }
    >
      <Text size="sm" c="dimmed">
        {describeConsumers(getSharing(workspace))} You see the workspaces that you may read.
      </Text>
      {failed?.error ? (
        <ErrorState error={failed.error} onRetry={() => void failed.refetch()} />
      ) : isLoading ? (
        <LoadingLines count={3} height={40} />
      ) : (
        <Graph organization={organization} workspace={workspace} sources={sources} consumers={consumers} />
      )}
    </Card>
  );
};
