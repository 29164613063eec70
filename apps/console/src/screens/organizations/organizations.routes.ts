import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { organizationsQuery } from '../../api/organizations.js';
import { rootRoute } from '../../parent-routes.js';

export const organizationsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  loader: ({ context: { queryClient } }) => void queryClient.prefetchInfiniteQuery(organizationsQuery()),
  component: lazyRouteComponent(() => import('./organizations.screen.js'), 'OrganizationsScreen'),
});
