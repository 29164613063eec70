import { Badge, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { agentPoolQuery } from '../../api/agent-pools.js';
import { usePermission } from '../../api/organizations.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { Page } from '../../components/page.js';
import { LoadingLines, QueryState } from '../../components/states.js';
import { PoolAgents } from './pool-agents.js';
import { PoolDeletion } from './pool-deletion.js';
import { PoolTokens } from './pool-tokens.js';
import { PoolWorkspaces } from './pool-workspaces.js';

/** Its lists to choose from are 30 kB, and it is below the fold. */
const PoolSettingsCard = lazyComponent(
  () => import('./pool-settings.js'),
  'PoolSettingsCard',
  <LoadingLines count={6} height={28} />,
);

/** A pool of agents: its settings, the workspaces that use it, its agents and their tokens. */
export const AgentPoolScreen = () => {
  const { organization, pool: id } = useParams({ from: '/$organization/settings/agent-pools/$pool' });
  const query = useQuery(agentPoolQuery(organization, id));
  const canManage = usePermission(organization, 'can-update-agent-pools');
  const isOwner = usePermission(organization, 'can-update');
  return (
    <Page
      title={query.data?.attributes.name ?? 'Agent pool'}
      badges={query.data?.attributes['remote-runs-enabled'] && <Badge>Remote runs</Badge>}
    >
      <QueryState query={query} what="agent pool" loading={<LoadingLines count={6} height={28} />}>
        {(pool) => {
          const common = { organization, pool, rights: { canManage: canManage ?? false, isOwner: isOwner ?? false } };
          return (
            <Stack>
              <PoolAgents {...common} />
              <PoolTokens {...common} />
              <PoolWorkspaces {...common} />
              <PoolSettingsCard {...common} />
              <PoolDeletion {...common} />
            </Stack>
          );
        }}
      </QueryState>
    </Page>
  );
};
