import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { identityProvidersQuery } from '../../api/identity-providers.js';
import { rootRoute } from '../../parent-routes.js';

export const siteScimRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/~site/scim',
  loader: ({ context: { queryClient } }) => void queryClient.prefetchInfiniteQuery(identityProvidersQuery()),
  component: lazyRouteComponent(() => import('./site-scim.screen.js'), 'SiteScimScreen'),
});
