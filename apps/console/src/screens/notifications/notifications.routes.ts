import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { organizationRoute } from '../../parent-routes.js';

export const notificationsRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: '/notifications',
  component: lazyRouteComponent(() => import('./notifications.screen.js'), 'NotificationsScreen'),
});
