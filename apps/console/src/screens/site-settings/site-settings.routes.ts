import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { generalSettingsQuery } from '../../api/general-settings.js';
import { rootRoute } from '../../parent-routes.js';

export const siteSettingsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/~site/settings',
  loader: ({ context: { queryClient } }) => void queryClient.prefetchQuery(generalSettingsQuery),
  component: lazyRouteComponent(() => import('./site-settings.screen.js'), 'SiteSettingsScreen'),
});
