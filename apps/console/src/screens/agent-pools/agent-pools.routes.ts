import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { agentPoolsQuery } from '../../api/agent-pools.js';
import { organizationSettingsRoute } from '../../parent-routes.js';

export const agentPoolsRoute = createRoute({
  getParentRoute: () => organizationSettingsRoute,
  path: '/agent-pools',
  loader: ({ context: { queryClient }, params: { organization } }) =>
    void queryClient.prefetchInfiniteQuery(agentPoolsQuery(organization)),
  component: lazyRouteComponent(() => import('./agent-pools.screen.js'), 'AgentPoolsScreen'),
});
