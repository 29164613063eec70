import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { identityProvidersQuery } from '../../api/identity-providers.js';
import { rootRoute } from '../../parent-routes.js';

export const siteProvidersRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/~site/identity-providers',
  loader: ({ context: { queryClient } }) => void queryClient.prefetchInfiniteQuery(identityProvidersQuery()),
  component: lazyRouteComponent(() => import('./site-providers.screen.js'), 'SiteProvidersScreen'),
});
