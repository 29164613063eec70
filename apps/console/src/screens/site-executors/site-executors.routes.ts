import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { agentPoolQuery, agentsQuery, poolLeasesQuery } from '../../api/agent-pools.js';
import { SITE_POOLS, sitePoolsQuery, siteWorkQuery } from '../../api/site-executors.js';
import { rootRoute } from '../../parent-routes.js';

export const siteExecutorsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/~site/executors',
  loader: ({ context: { queryClient } }) => {
    void queryClient.prefetchInfiniteQuery(sitePoolsQuery());
    void queryClient.prefetchQuery(siteWorkQuery);
  },
  component: lazyRouteComponent(() => import('./site-executors.screen.js'), 'SiteExecutorsScreen'),
});

export const sitePoolRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/~site/executors/$pool',
  loader: ({ context: { queryClient }, params: { pool } }) => {
    void queryClient.prefetchQuery(agentPoolQuery(SITE_POOLS, pool));
    void queryClient.prefetchInfiniteQuery(agentsQuery(SITE_POOLS, pool));
    void queryClient.prefetchQuery(poolLeasesQuery(SITE_POOLS, pool));
  },
  component: lazyRouteComponent(() => import('./site-pool.screen.js'), 'SitePoolScreen'),
});
