import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { organizationsQuery } from '../../api/organizations.js';
import { getOrganizationPath } from '../../layout/navigation.js';
import { organizationRoute, rootRoute } from '../../parent-routes.js';

export const organizationsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  loader: ({ context: { queryClient } }) => void queryClient.prefetchInfiniteQuery(organizationsQuery()),
  component: lazyRouteComponent(() => import('./organizations.screen.js'), 'OrganizationsScreen'),
});

/** The address of an organization leads to its first screen. */
export const startRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: '/',
  beforeLoad: ({ params: { organization } }) =>
    redirect({ to: getOrganizationPath(organization), replace: true, throw: true }),
});
