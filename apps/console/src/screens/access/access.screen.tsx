import { Button, Group, Text } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { ACCESS_ROWS_IN_PAGE, accessPageQuery, type AccessMatrixRow, type AccessSearch } from '../../api/access.js';
import { ApiError } from '../../api/api-error.js';
import { organizationQuery } from '../../api/organizations.js';
import { projectQuery } from '../../api/projects.js';
import { teamsQuery, type Team } from '../../api/teams.js';
import { SearchIcon, TeamIcon } from '../../components/icons.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { MatrixGrid, type MatrixCell } from '../../components/matrix-grid.js';
import { Page } from '../../components/page.js';
import { usePagedRows, type PagedRows } from '../../components/paged-rows.js';
import { RowTotal } from '../../components/row-total.js';
import { SearchField } from '../../components/search-field.js';
import { EmptyState, ErrorState, LoadingLines } from '../../components/states.js';
import { TeamTabs } from '../teams/team-tabs.js';
import { describeSources, listAccessSources, sortTeams, type AccessSource } from './access-sources.js';
import { parseAccessSearch } from './access.search.js';
import classes from './access.module.css';

const AccessDialog = lazyComponent(() => import('./access-dialog.js'), 'AccessDialog');

const ROUTE = '/$organization/teams/access';

const SHORT = { workspace: 'workspace', project: 'project', organization: 'organization' } as const;

const CellContent = ({ sources }: { readonly sources: readonly AccessSource[] }) => {
  const [first, ...others] = sources;
  if (!first) return <span className={classes['none']}>–</span>;
  return (
    <>
      <span className={classes['level']}>{first.level}</span>
      <span className={classes['source']}>
        {SHORT[first.from]}
        {others.length > 0 && ` +${others.length}`}
      </span>
    </>
  );
};

/** All teams are columns, so all pages of them are loaded. */
const useAllTeams = (organization: string): readonly Team[] | undefined => {
  const { data, hasNextPage, isFetching, fetchNextPage } = useInfiniteQuery(teamsQuery(organization));
  useEffect(() => {
    if (hasNextPage && !isFetching) void fetchNextPage();
  }, [hasNextPage, isFetching, fetchNextPage]);
  return data?.pages.flatMap((page) => page.data);
};

type MatrixProps = {
  readonly organization: string;
  readonly rows: PagedRows<AccessMatrixRow>;
  readonly count: number;
  readonly teams: readonly Team[];
};

const AccessMatrix = ({ organization, rows, count, teams: unsorted }: MatrixProps) => {
  const { data } = useQuery(organizationQuery(organization));
  const owners = data?.relationships['owners-team'].data?.id;
  const teams = sortTeams(unsorted, owners);
  const [opened, setOpened] = useState<{ readonly row: string; readonly team: string } | null>(null);
  const getCell = (index: number, column: number): MatrixCell => {
    const row = rows.getRow(index);
    const team = teams[column];
    if (!row || !team) return { label: 'Loading', content: null };
    const sources = listAccessSources(row, team, owners);
    const label = `${team.attributes.name}, ${row.attributes.name}: ${describeSources(sources)}`;
    return { label, content: <CellContent sources={sources} /> };
  };
  const open = (index: number, column: number): void => {
    const [row, team] = [rows.getRow(index), teams[column]];
    if (row && team) setOpened({ row: row.id, team: team.id });
  };
  const openedRow = Array.from({ length: opened ? count : 0 }, (_, index) => rows.getRow(index)).find(
    (row) => row?.id === opened?.row,
  );
  const openedTeam = teams.find(({ id }) => id === opened?.team);
  return (
    <>
      <MatrixGrid
        label="Access of teams"
        corner="Project, workspace"
        columns={teams.map(({ id, attributes }) => ({ id, label: attributes.name }))}
        columnWidth={264}
        count={count}
        getRow={(index) => {
          const row = rows.getRow(index);
          if (!row) return undefined;
          const { kind, name } = row.attributes;
          const isGroup = kind === 'projects';
          const label = isGroup ? `Project ${name}` : name;
          return { label, isGroup, header: <span className={classes[isGroup ? 'project' : 'workspace']}>{name}</span> };
        }}
        getCell={getCell}
        onRange={rows.onRange}
        onOpen={open}
      />
      {openedRow && openedTeam && (
        <AccessDialog
          organization={organization}
          row={openedRow}
          team={openedTeam}
          sources={listAccessSources(openedRow, openedTeam, owners)}
          onClose={() => setOpened(null)}
        />
      )}
    </>
  );
};

const NoPermission = ({ organization }: { readonly organization: string }) => {
  const navigate = useNavigate();
  return (
    <EmptyState icon={TeamIcon} title="You may not see the access of all teams">
      <Text>
        You need a team that may read all projects or all workspaces of the organization. You can always see why you
        have access yourself.
      </Text>
      <div>
        <Button onClick={() => void navigate({ to: `/${organization}/teams/why` })}>Why can I do something?</Button>
      </div>
    </EmptyState>
  );
};

/** Returns the name of the project that filters the rows, or its id if the person cannot read it. */
const useProjectFilter = (organization: string): string | undefined => {
  const { project } = useSearch({ from: ROUTE });
  const { data } = useQuery({ ...projectQuery(organization, project ?? ''), enabled: project !== undefined });
  return data?.attributes.name ?? project;
};

const NoMatch = ({ organization }: { readonly organization: string }) => {
  const project = useProjectFilter(organization);
  return (
    <EmptyState icon={SearchIcon} title="No project and no workspace matches">
      <Text>
        {project === undefined
          ? 'Change the text above.'
          : `Change the text above, or remove the filter by the project ${project}.`}
      </Text>
    </EmptyState>
  );
};

const Content = ({ organization }: { readonly organization: string }) => {
  const search = useSearch({ from: ROUTE });
  const rows = usePagedRows(ACCESS_ROWS_IN_PAGE, (page) => accessPageQuery(organization, search, page));
  const teams = useAllTeams(organization);
  if (rows.error instanceof ApiError && rows.error.isNotFound) return <NoPermission organization={organization} />;
  if (rows.error) return <ErrorState error={rows.error} onRetry={rows.retry} />;
  return (
    <>
      <Toolbar organization={organization} total={rows.total} />
      {rows.total === undefined || teams === undefined ? (
        <LoadingLines count={8} height={32} />
      ) : rows.total === 0 ? (
        <NoMatch organization={organization} />
      ) : (
        <AccessMatrix organization={organization} rows={rows} count={rows.total} teams={teams} />
      )}
    </>
  );
};

type ToolbarProps = { readonly organization: string; readonly total: number | undefined };

const Toolbar = ({ organization, total }: ToolbarProps) => {
  const { name = '' } = useSearch({ from: ROUTE });
  const navigate = useNavigate({ from: ROUTE });
  const project = useProjectFilter(organization);
  const change = (changes: AccessSearch) =>
    void navigate({ search: (before) => parseAccessSearch({ ...before, ...changes }), replace: true });
  return (
    <Group gap="sm" mb="0.75rem">
      <SearchField
        label="Search projects and workspaces by name"
        text={name}
        onText={(next) => change({ name: next })}
      />
      {project !== undefined && (
        <Button
          variant="default"
          aria-label={`Project: ${project}. Remove the filter`}
          rightSection="×"
          onClick={() => change({ project: undefined })}
        >
          Project: {project}
        </Button>
      )}
      <RowTotal total={total} error={null} noun={['row']} />
    </Group>
  );
};

/** The access of each team to each project and workspace, and its source. */
export const AccessScreen = () => {
  const { organization } = useParams({ from: ROUTE });
  return (
    <Page title="Access" isFilled>
      <TeamTabs organization={organization} />
      <Content organization={organization} />
    </Page>
  );
};
