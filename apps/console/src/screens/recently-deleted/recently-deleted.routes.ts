import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { organizationSettingsRoute } from '../../parent-routes.js';

export const recentlyDeletedRoute = createRoute({
  getParentRoute: () => organizationSettingsRoute,
  path: '/recently-deleted',
  component: lazyRouteComponent(() => import('./recently-deleted.screen.js'), 'RecentlyDeletedScreen'),
});
