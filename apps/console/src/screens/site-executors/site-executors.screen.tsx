import { Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { AgentPool } from '../../api/agent-pools.js';
import { sitePoolsQuery, siteWorkQuery, type SiteRun, type SiteWork } from '../../api/site-executors.js';
import { Card } from '../../components/card.js';
import { formatCount } from '../../components/counts.js';
import { CreateButton } from '../../components/create-button.js';
import { DataTable, NarrowLine, type DataColumn } from '../../components/data-table.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { PagedList } from '../../components/paged-list.js';
import { RunStatusBadge } from '../../components/run-status.js';
import { LoadingLines, QueryState } from '../../components/states.js';
import classes from '../../components/table-frame.module.css';
import { Time } from '../../components/times.js';
import { SitePage } from '../site/site-page.js';

const CreateSitePoolDialog = lazyComponent(() => import('./site-pool-dialogs.js'), 'CreateSitePoolDialog');

const POOL_COLUMNS: readonly DataColumn<AgentPool>[] = [
  {
    header: 'Name',
    cell: ({ id, attributes }) => (
      <Link to="/~site/executors/$pool" params={{ pool: id }} className={classes['name']}>
        {attributes.name}
      </Link>
    ),
  },
  { header: 'Active executors', align: 'right', cell: ({ attributes }) => attributes['agent-count'].toLocaleString() },
  { header: 'Created', isWide: true, cell: ({ attributes }) => <Time value={attributes['created-at']} /> },
];

const RUN_COLUMNS: readonly DataColumn<SiteRun>[] = [
  {
    header: 'Run',
    isFilling: true,
    cell: ({ id, attributes, workspace, organization }) => (
      <>
        <Link
          to="/$organization/workspaces/$workspace/runs/$run"
          params={{ organization, workspace, run: id }}
          className={classes['name']}
        >
          {attributes.message || id}
        </Link>
        <NarrowLine>
          {organization} / {workspace}
        </NarrowLine>
      </>
    ),
  },
  { header: 'Workspace', isWide: true, cell: ({ organization, workspace }) => `${organization} / ${workspace}` },
  {
    header: 'Status',
    cell: ({ attributes }) => (
      <RunStatusBadge run={{ status: attributes.status, hasChanges: attributes['has-changes'] }} />
    ),
  },
  { header: 'Created', isWide: true, cell: ({ attributes }) => <Time value={attributes['created-at']} /> },
];

type RunningProps = { readonly runs: readonly SiteRun[]; readonly total: number };

const Running = ({ runs, total }: RunningProps) => (
  <Card title="Running now">
    {runs.length === 0 ? (
      <Text size="sm">No executor works on a run.</Text>
    ) : (
      <DataTable label="Running now" isInCard isLinked rows={runs} columns={RUN_COLUMNS} />
    )}
    {total > runs.length && (
      <Text size="sm" c="dimmed">
        These are the newest {runs.length.toLocaleString()} of {formatCount(total, 'run')}.
      </Text>
    )}
  </Card>
);

type QueueRow = SiteWork['organizations'][number] & { readonly id: string };

const QUEUE_COLUMNS: readonly DataColumn<QueueRow>[] = [
  {
    header: 'Organization',
    cell: ({ id }) => (
      <Link to="/$organization/runs" params={{ organization: id }} search={{ group: 'non_final' }}>
        {id}
      </Link>
    ),
  },
  { header: 'Waiting', align: 'right', cell: ({ waiting }) => formatCount(waiting, 'run') },
  { header: 'Running', align: 'right', isWide: true, cell: ({ running }) => running.toLocaleString() },
  { header: 'Waits since', align: 'right', cell: (row) => <Time value={row['waiting-since'] ?? ''} /> },
];

/** Runs that wait for an executor of their organization, or of the site. */
const Queue = ({ work: { waiting, organizations } }: { readonly work: SiteWork }) => {
  const rows = organizations
    .filter((counts) => counts.waiting > 0)
    .map((counts): QueueRow => ({ ...counts, id: counts.organization }));
  const listed = rows.reduce((sum, counts) => sum + counts.waiting, 0);
  return (
    <Card title="Waiting for an executor">
      {rows.length === 0 ? (
        <Text size="sm">No run waits.</Text>
      ) : (
        <DataTable label="Waiting for an executor" isInCard isLinked rows={rows} columns={QUEUE_COLUMNS} />
      )}
      {waiting > listed && (
        <Text size="sm" c="dimmed">
          {formatCount(waiting - listed, 'more run')} of other organizations wait.
        </Text>
      )}
    </Card>
  );
};

/** The executors of the site and their work, for site administrators. */
export const SiteExecutorsScreen = () => {
  const pools = useInfiniteQuery(sitePoolsQuery());
  const work = useQuery(siteWorkQuery);
  const [isCreating, dialog] = useDisclosure(false);
  return (
    <SitePage
      title="Executors"
      description="Executors of the site plan and apply runs of every organization that has no pool for them and has not opted out."
      error={pools.error}
      actions={<CreateButton label="New pool" isPermitted={pools.data ? true : undefined} onClick={dialog.open} />}
    >
      <Stack>
        <Card title="Pools of the site">
          <PagedList
            query={pools}
            what="list"
            empty={<Text size="sm">There is no pool yet. Create one, and start an executor with a token of it.</Text>}
          >
            {(rows) => <DataTable label="Pools of the site" isInCard isLinked rows={rows} columns={POOL_COLUMNS} />}
          </PagedList>
        </Card>
        <QueryState query={work} what="list" loading={<LoadingLines count={4} height={28} />}>
          {({ runs, work: present }) => (
            <>
              <Running runs={runs} total={present.running} />
              <Queue work={present} />
            </>
          )}
        </QueryState>
      </Stack>
      {isCreating && <CreateSitePoolDialog onClose={dialog.close} />}
    </SitePage>
  );
};
