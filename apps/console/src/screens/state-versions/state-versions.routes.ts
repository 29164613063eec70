import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { workspaceRoute } from '../../parent-routes.js';
import { parseStateComparison } from './state-versions.search.js';

export const stateVersionsRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/states',
  validateSearch: parseStateComparison,
  component: lazyRouteComponent(() => import('./state-versions.screen.js'), 'StateVersionsScreen'),
});
