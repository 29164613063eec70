import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { organizationSettingsRoute } from '../../parent-routes.js';

/* They are opened rarely, so that no loader brings their requests into the first view. */

export const policiesRoute = createRoute({
  getParentRoute: () => organizationSettingsRoute,
  path: '/policies',
  component: lazyRouteComponent(() => import('./policies.screen.js'), 'PoliciesScreen'),
});

export const policySetsRoute = createRoute({
  getParentRoute: () => organizationSettingsRoute,
  path: '/policy-sets',
  component: lazyRouteComponent(() => import('../policy-sets/policy-sets.screen.js'), 'PolicySetsScreen'),
});
