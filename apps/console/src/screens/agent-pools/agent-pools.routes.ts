import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { agentPoolQuery, agentPoolsQuery, agentsQuery } from '../../api/agent-pools.js';
import { organizationSettingsRoute } from '../../parent-routes.js';

export const agentPoolsRoute = createRoute({
  getParentRoute: () => organizationSettingsRoute,
  path: '/agent-pools',
  loader: ({ context: { queryClient }, params: { organization } }) =>
    void queryClient.prefetchInfiniteQuery(agentPoolsQuery(organization)),
  component: lazyRouteComponent(() => import('./agent-pools.screen.js'), 'AgentPoolsScreen'),
});

export const agentPoolRoute = createRoute({
  getParentRoute: () => organizationSettingsRoute,
  path: '/agent-pools/$pool',
  loader: ({ context: { queryClient }, params: { organization, pool } }) => {
    void queryClient.prefetchQuery(agentPoolQuery(organization, pool));
    void queryClient.prefetchInfiniteQuery(agentsQuery(organization, pool));
  },
  component: lazyRouteComponent(() => import('../agent-pool/agent-pool.screen.js'), 'AgentPoolScreen'),
});
