import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { organizationRoute } from '../../parent-routes.js';

export const healthRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: '/runs/health',
  component: lazyRouteComponent(() => import('./health.screen.js'), 'HealthScreen'),
});
