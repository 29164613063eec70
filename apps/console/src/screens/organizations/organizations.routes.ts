import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { ownInvitationsQuery } from '../../api/memberships.js';
import { organizationsQuery } from '../../api/organizations.js';
import { rootRoute } from '../../parent-routes.js';

export const organizationsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  loader: ({ context: { queryClient } }) => {
    void queryClient.prefetchInfiniteQuery(organizationsQuery());
    void queryClient.prefetchQuery(ownInvitationsQuery);
  },
  component: lazyRouteComponent(() => import('./organizations.screen.js'), 'OrganizationsScreen'),
});
