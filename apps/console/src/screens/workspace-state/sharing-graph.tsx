import { Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useId, type ReactNode } from 'react';
import {
  getSharing,
  sharingQuery,
  type SharingDirection,
  type SharingWorkspace,
  type StateSharing,
} from '../../api/shared-states.js';
import type { Workspace } from '../../api/workspaces.js';
import { Card } from '../../components/card.js';
import { WorkspaceIcon } from '../../components/icons.js';
import { LoadMore } from '../../components/load-more.js';
import { ErrorState, LoadingLines } from '../../components/states.js';
import { TextLink } from '../../components/text-link.js';
import classes from './sharing-graph.module.css';

/** The height of a node with the gap below it. The style sheet uses it too. */
const ROW = 56;

/** Lines from `count` nodes to the workspace in the middle. The lists contain the same for screen readers. */
const Lines = ({ count, height, mirrored }: { count: number; height: number; mirrored: boolean }) => {
  const top = (height - count * ROW) / 2;
  return (
    <svg
      className={classes['lines']}
      data-mirrored={mirrored || undefined}
      viewBox={`0 0 100 ${height}`}
      height={height}
      preserveAspectRatio="none"
      aria-hidden="true"
      focusable="false"
    >
      {Array.from({ length: count }, (_, index) => {
        const y = top + (index + 0.5) * ROW;
        return <path key={index} d={`M0 ${y} C55 ${y} 45 ${height / 2} 100 ${height / 2}`} />;
      })}
    </svg>
  );
};

const describeSource = (sharing: StateSharing): string =>
  ({
    organization: 'shares with the organization',
    project: 'shares with its project',
    names: 'names this workspace',
  })[sharing];

type NodeProps = { readonly organization: string; readonly workspace: SharingWorkspace; readonly note?: string };

const Node = ({ organization, workspace: { name }, note }: NodeProps) => (
  <li className={classes['row']}>
    <Link
      to="/$organization/workspaces/$workspace/state"
      params={{ organization, workspace: name }}
      className={classes['node']}
      title={name}
    >
      <span className={classes['name']}>{name}</span>
      {note && <span className={classes['note']}>{note}</span>}
    </Link>
  </li>
);

type SideProps = {
  readonly title: string;
  /** The text instead of a list without workspaces. */
  readonly nothing: string;
  readonly nodes: readonly ReactNode[];
  readonly more: ReactNode;
};

const Side = ({ title, nothing, nodes, more }: SideProps) => {
  const id = useId();
  return (
    <section className={classes['side']} aria-labelledby={id}>
      <h3 className={classes['title']} id={id}>
        {title}
      </h3>
      {nodes.length === 0 ? (
        <p className={classes['nothing']}>{nothing}</p>
      ) : (
        <ul className={classes['nodes']}>{nodes}</ul>
      )}
      {more}
    </section>
  );
};

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

const Graph = ({ organization, workspace, sources, consumers }: SharingGraphProps & GraphSides) => {
  const height = Math.max(sources.rows.length, consumers.rows.length, 1) * ROW;
  return (
    <div className={classes['graph']}>
      <Side
        title="Reads the states of"
        nothing="No other workspace"
        nodes={sources.rows.map((one) => (
          <Node key={one.id} organization={organization} workspace={one} note={describeSource(one.sharing)} />
        ))}
        more={sources.more}
      />
      <Lines count={sources.rows.length} height={height} mirrored={false} />
      <div className={classes['middle']}>
        <WorkspaceIcon size={16} />
        <span className={classes['name']} title={workspace.attributes.name}>
          {workspace.attributes.name}
        </span>
      </div>
      <Lines count={consumers.rows.length} height={height} mirrored />
      <Side
        title="Is read by"
        nothing="No other workspace"
        nodes={consumers.rows.map((one) => (
          <Node key={one.id} organization={organization} workspace={one} />
        ))}
        more={consumers.more}
      />
    </div>
  );
};

type GraphSides = Readonly<Record<'sources' | 'consumers', ReturnType<typeof useSharing>>>;

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
