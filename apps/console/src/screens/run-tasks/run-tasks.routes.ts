import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { organizationSettingsRoute } from '../../parent-routes.js';

/* It is opened rarely, so that no loader brings its request into the first view. */

export const runTasksRoute = createRoute({
  getParentRoute: () => organizationSettingsRoute,
  path: '/run-tasks',
  component: lazyRouteComponent(() => import('./run-tasks.screen.js'), 'RunTasksScreen'),
});
