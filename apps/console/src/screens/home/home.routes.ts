import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { firstProjectsQuery, lastChangesQuery, locksQuery, waitingRunsQuery } from '../../api/home.js';
import { organizationRoute } from '../../parent-routes.js';

export const homeRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: '/',
  loader: ({ context: { queryClient }, params: { organization } }) => {
    void queryClient.prefetchQuery(lastChangesQuery(organization));
    void queryClient.prefetchQuery(firstProjectsQuery(organization));
    void queryClient.prefetchQuery(locksQuery(organization));
    void queryClient.prefetchQuery(waitingRunsQuery(organization));
  },
  component: lazyRouteComponent(() => import('./home.screen.js'), 'HomeScreen'),
});
