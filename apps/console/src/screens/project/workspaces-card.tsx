import { Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { getSharing, type StateSharing } from '../../api/shared-states.js';
import type { Project } from '../../api/projects.js';
import { projectWorkspacesQuery, type Workspace } from '../../api/workspaces.js';
import { Card } from '../../components/card.js';
import { formatCount } from '../../components/counts.js';
import { DataTable, type DataColumn } from '../../components/data-table.js';
import { PagedList } from '../../components/paged-list.js';
import { LoadingLines } from '../../components/states.js';
import { TextLink } from '../../components/text-link.js';
import { Time } from '../../components/times.js';
import classes from '../../components/table-frame.module.css';

const READERS: Readonly<Record<StateSharing, string>> = {
  organization: 'All workspaces of the organization',
  project: 'All workspaces of this project',
  names: 'Chosen workspaces',
};

const listColumns = (organization: string): readonly DataColumn<Workspace>[] => [
  {
    header: 'Name',
    cell: ({ attributes: { name } }) => (
      <Link
        to="/$organization/workspaces/$workspace"
        params={{ organization, workspace: name }}
        className={classes['name']}
      >
        {name}
      </Link>
    ),
  },
  { header: 'Its state can be read by', cell: (workspace) => READERS[getSharing(workspace)] },
  { header: 'Changed', isWide: true, cell: ({ attributes }) => <Time value={attributes['latest-change-at']} /> },
];

type WorkspacesCardProps = { readonly organization: string; readonly project: Project };

/** The workspaces of the project, with those that may read the state of each. */
export const WorkspacesCard = ({ organization, project: { id, attributes } }: WorkspacesCardProps) => {
  const query = useInfiniteQuery(projectWorkspacesQuery(organization, id));
  const list = (
    <TextLink
      to="/$organization/workspaces"
      params={{ organization }}
      search={{ project: id }}
      display="inline-block"
      py={2}
    >
      {formatCount(attributes['workspace-count'], 'workspace')} in the list
    </TextLink>
  );
  return (
    <Card title="Workspaces" actions={list}>
      <PagedList
        query={query}
        what="project"
        loading={<LoadingLines count={3} height={24} />}
        empty={<Text size="sm">The project has no workspace that you may read.</Text>}
      >
        {(workspaces) => (
          <DataTable label="Workspaces" rows={workspaces} columns={listColumns(organization)} isInCard />
        )}
      </PagedList>
      {attributes.permissions['can-move-workspace'] && (
        <Text size="sm" c="dimmed">
          To move workspaces to another project or into this one, select them in{' '}
          <TextLink to="/$organization/workspaces" params={{ organization }} underline="always">
            the list of workspaces
          </TextLink>
          , and choose Move.
        </Text>
      )}
    </Card>
  );
};
