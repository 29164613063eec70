import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { providerQuery, versionsQuery } from '../../api/registry.js';
import { organizationRoute } from '../../parent-routes.js';

export const providerRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: '/registry/$provider',
  loader: ({ context: { queryClient }, params: { organization, provider } }) => {
    void queryClient.prefetchQuery(providerQuery(organization, provider));
    void queryClient.prefetchInfiniteQuery(versionsQuery(organization, provider));
  },
  component: lazyRouteComponent(() => import('./provider.screen.js'), 'ProviderScreen'),
});
