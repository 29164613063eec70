import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { workspaceRoute } from '../../parent-routes.js';

export const workspaceNotificationsRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/notifications',
  component: lazyRouteComponent(() => import('./workspace-notifications.screen.js'), 'WorkspaceNotificationsScreen'),
});
