import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { siteStatusQuery } from '../../api/site.js';
import { rootRoute } from '../../parent-routes.js';

export const siteRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/~site',
  loader: ({ context: { queryClient } }) => void queryClient.prefetchQuery(siteStatusQuery),
  component: lazyRouteComponent(() => import('./site.screen.js'), 'SiteScreen'),
});
