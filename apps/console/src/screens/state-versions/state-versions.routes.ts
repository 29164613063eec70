import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { workspaceRoute } from '../../parent-routes.js';
import { dropRejected } from '../../search-params.js';
import { parseStateComparison } from './state-versions.search.js';

const validateStateComparison = dropRejected(parseStateComparison);

export const stateVersionsRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/states',
  validateSearch: validateStateComparison,
  component: lazyRouteComponent(() => import('./state-versions.screen.js'), 'StateVersionsScreen'),
});
