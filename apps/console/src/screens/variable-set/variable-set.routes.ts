import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { organizationSettingsRoute } from '../../parent-routes.js';

export const variableSetRoute = createRoute({
  getParentRoute: () => organizationSettingsRoute,
  path: '/variable-sets/$set',
  component: lazyRouteComponent(() => import('./variable-set.screen.js'), 'VariableSetScreen'),
});
