import { Badge, Code, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { agentsQuery, nameAgent, type PoolAgent } from '../../api/agent-pools.js';
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

const COLUMNS: readonly DataColumn<PoolAgent>[] = [
  { header: 'Name', cell: nameAgent },
  {
    header: 'Status',
    cell: ({ attributes }) => <Badge color={STATES[attributes.status].color}>{STATES[attributes.status].label}</Badge>,
  },
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
            columns={COLUMNS}
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
