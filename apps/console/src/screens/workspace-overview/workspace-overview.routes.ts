import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { workspaceRoute } from '../../parent-routes.js';

export const workspaceOverviewRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/',
  component: lazyRouteComponent(() => import('./workspace-overview.screen.js'), 'WorkspaceOverviewScreen'),
});
