import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { organizationRoute } from '../../parent-routes.js';

export const runTriggersRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: '/runs/triggers',
  component: lazyRouteComponent(() => import('./run-triggers.screen.js'), 'RunTriggersScreen'),
});
