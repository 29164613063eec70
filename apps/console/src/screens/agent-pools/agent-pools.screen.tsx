import { Badge, Group, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { agentPoolsQuery, type AgentPool } from '../../api/agent-pools.js';
import { usePermission } from '../../api/organizations.js';
import { formatCount } from '../../components/counts.js';
import { CreateButton } from '../../components/create-button.js';
import { DataTable, type DataColumn } from '../../components/data-table.js';
import { RunIcon } from '../../components/icons.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { Page } from '../../components/page.js';
import { PagedList } from '../../components/paged-list.js';
import { EmptyState } from '../../components/states.js';
import { Time } from '../../components/times.js';
import classes from '../../components/table-frame.module.css';
import { NO_POOL_CHANGE } from './agent-pool-words.js';

const CreatePoolDialog = lazyComponent(() => import('./create-pool-dialog.js'), 'CreatePoolDialog');

/** The workspaces whose runs the agents may execute. */
const describeScope = ({ attributes, relationships }: AgentPool): string => {
  const excluded = relationships['excluded-workspaces'].data.length;
  if (attributes['organization-scoped']) {
    return excluded === 0 ? 'All workspaces' : `All but ${formatCount(excluded, 'workspace')}`;
  }
  const [workspaces, projects] = [relationships['allowed-workspaces'].data, relationships['allowed-projects'].data];
  return `${formatCount(projects.length, 'project')}, ${formatCount(workspaces.length, 'workspace')}`;
};

const PoolTable = ({
  organization,
  pools,
}: {
  readonly organization: string;
  readonly pools: readonly AgentPool[];
}) => {
  const columns: readonly DataColumn<AgentPool>[] = [
    {
      header: 'Name',
      cell: ({ id, attributes }) => (
        <Group gap="xs">
          <Link
            to="/$organization/settings/agent-pools/$pool"
            params={{ organization, pool: id }}
            className={classes['name']}
          >
            {attributes.name}
          </Link>
          {attributes['remote-runs-enabled'] && <Badge>Remote runs</Badge>}
        </Group>
      ),
    },
    { header: 'Active agents', align: 'right', cell: ({ attributes }) => attributes['agent-count'].toLocaleString() },
    { header: 'May be used by', cell: describeScope },
    {
      header: 'Used by',
      isWide: true,
      cell: ({ relationships }) => formatCount(relationships.workspaces.data.length, 'workspace'),
    },
    { header: 'Created', isWide: true, cell: ({ attributes }) => <Time value={attributes['created-at']} /> },
  ];
  return <DataTable label="Agent pools" rows={pools} columns={columns} isLinked />;
};

/** The pools of agents that execute runs. */
export const AgentPoolsScreen = () => {
  const { organization } = useParams({ from: '/$organization/settings/agent-pools' });
  const [isCreating, dialog] = useDisclosure(false);
  const query = useInfiniteQuery(agentPoolsQuery(organization));
  return (
    <Page
      title="Agent pools"
      description="Agents are your own programs that run terraform in your network. A workspace with the execution mode Agent uses one pool."
      actions={
        <CreateButton
          label="New agent pool"
          isPermitted={usePermission(organization, 'can-update-agent-pools')}
          reason={NO_POOL_CHANGE}
          onClick={dialog.open}
        />
      }
    >
      <PagedList
        query={query}
        what="organization"
        empty={
          <EmptyState icon={RunIcon} title="There is no agent pool yet">
            <Text>
              The server executes no runs itself. Create a pool and a token of it, and start an agent with the token.
            </Text>
          </EmptyState>
        }
      >
        {(pools) => <PoolTable organization={organization} pools={pools} />}
      </PagedList>
      {isCreating && <CreatePoolDialog organization={organization} onClose={dialog.close} />}
    </Page>
  );
};
