import { Badge, Code, Text } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { agentsQuery, nameAgent, poolLeasesQuery, type PoolAgent, type ExecutorWork } from '../../api/agent-pools.js';
import { Card } from '../../components/card.js';
import { DataTable, type DataColumn } from '../../components/data-table.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { PagedList } from '../../components/paged-list.js';
import { Time } from '../../components/times.js';
import { explainPoolRefusal, type PoolProps } from './pool-rights.js';

const RemoveAgentDialog = lazyComponent(() => import('./pool-dialogs.js'), 'RemoveAgentDialog');

type AgentState = PoolAgent['attributes']['status'];

const STATES: Readonly<Record<AgentState, { readonly label: string; readonly color: string }>> = {
  idle: { label: 'Idle', color: 'green' },
  busy: { label: 'Busy', color: 'blue' },
  unknown: { label: 'Not seen for 3 minutes', color: 'yellow' },
  errored: { label: 'Lost', color: 'red' },
  exited: { label: 'Exited', color: 'gray' },
};

const PHASES = { plan: 'Plan', apply: 'Apply' } as const;
const ACCEPTED = { plan: 'plans', apply: 'applies' } as const;

const Work = ({ leases }: { readonly leases: readonly ExecutorWork[] }) =>
  leases.length === 0
    ? '–'
    : leases.map(({ id, attributes }) => (
        <div key={id}>
          {PHASES[attributes.phase]} of{' '}
          <Link
            to="/$organization/workspaces/$workspace/runs/$run"
            params={{ organization: attributes['organization-name'], workspace: attributes['workspace-name'], run: id }}
          >
            {attributes['workspace-name']}
          </Link>
        </div>
      ));

const describeCapacity = ({ attributes: { capacity, phases } }: PoolAgent): string =>
  capacity === null || phases === null
    ? '–'
    : `${capacity.toLocaleString()}, ${phases.map((phase) => ACCEPTED[phase]).join(' and ')}`;

const listColumns = (leases: readonly ExecutorWork[]): readonly DataColumn<PoolAgent>[] => [
  { header: 'Name', cell: nameAgent },
  {
    header: 'Status',
    cell: ({ attributes }) => <Badge color={STATES[attributes.status].color}>{STATES[attributes.status].label}</Badge>,
  },
  {
    header: 'Works on',
    cell: ({ id }) => <Work leases={leases.filter(({ relationships }) => relationships.agent.data.id === id)} />,
  },
  { header: 'Capacity', isWide: true, cell: describeCapacity },
  { header: 'Version', isWide: true, cell: ({ attributes }) => attributes.version ?? '–' },
  {
    header: 'Last seen',
    cell: ({ attributes }) =>
      attributes['last-ping-at'] === null ? 'Never' : <Time value={attributes['last-ping-at']} />,
  },
  {
    header: 'Address',
    isWide: true,
    cell: ({ attributes }) => (attributes['ip-address'] === null ? '–' : <Code>{attributes['ip-address']}</Code>),
  },
  { header: 'Registered', isWide: true, cell: ({ attributes }) => <Time value={attributes['created-at']} /> },
];

/** Returns why the agent cannot be removed, or undefined. */
const explainAgentRefusal = ({ attributes: { status } }: PoolAgent, refusal: string | null): string | undefined => {
  if (refusal !== null) return refusal;
  return status === 'idle' || status === 'busy' ? 'The agent is running. Stop it first.' : undefined;
};

/** The agents of a pool, and when the server has last heard of them. */
export const PoolAgents = (props: PoolProps) => {
  const { organization, pool } = props;
  const query = useInfiniteQuery(agentsQuery(organization, pool.id));
  const { data: leases = [] } = useQuery(poolLeasesQuery(organization, pool.id));
  const [removed, setRemoved] = useState<PoolAgent | null>(null);
  const refusal = explainPoolRefusal(props);
  return (
    <Card title="Agents">
      <PagedList
        query={query}
        what="agent pool"
        empty={
          <Text size="sm">No agent has registered yet. Executors that only report runs do not have to register.</Text>
        }
      >
        {(agents) => (
          <DataTable
            label="Agents"
            rows={agents}
            columns={listColumns(leases)}
            isInCard
            actions={(agent) => ({
              name: nameAgent(agent),
              actions: [
                {
                  action: 'Remove',
                  isDangerous: true,
                  refusal: explainAgentRefusal(agent, refusal),
                  onClick: () => setRemoved(agent),
                },
              ],
            })}
          />
        )}
      </PagedList>
      {removed && <RemoveAgentDialog organization={organization} agent={removed} onClose={() => setRemoved(null)} />}
    </Card>
  );
};
