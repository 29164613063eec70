import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { gpgKeysQuery, providersQuery } from '../../api/registry.js';
import { organizationRoute } from '../../parent-routes.js';

export const registryRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: '/registry',
  loader: ({ context: { queryClient }, params: { organization } }) => {
    void queryClient.prefetchInfiniteQuery(providersQuery(organization));
    void queryClient.prefetchQuery(gpgKeysQuery(organization));
  },
  component: lazyRouteComponent(() => import('./registry.screen.js'), 'RegistryScreen'),
});
