import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { agentPoolQuery, agentsQuery, poolLeasesQuery } from '../../api/agent-pools.js';
import { organizationSettingsRoute } from '../../parent-routes.js';

export const agentPoolRoute = createRoute({
  getParentRoute: () => organizationSettingsRoute,
  path: '/agent-pools/$pool',
  loader: ({ context: { queryClient }, params: { organization, pool } }) => {
    void queryClient.prefetchQuery(agentPoolQuery(organization, pool));
    void queryClient.prefetchInfiniteQuery(agentsQuery(organization, pool));
    void queryClient.prefetchQuery(poolLeasesQuery(organization, pool));
  },
  component: lazyRouteComponent(() => import('./agent-pool.screen.js'), 'AgentPoolScreen'),
});
