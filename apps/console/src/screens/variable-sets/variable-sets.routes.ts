import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { organizationSettingsRoute } from '../../parent-routes.js';

export const variableSetsRoute = createRoute({
  getParentRoute: () => organizationSettingsRoute,
  path: '/variable-sets',
  component: lazyRouteComponent(() => import('./variable-sets.screen.js'), 'VariableSetsScreen'),
});
