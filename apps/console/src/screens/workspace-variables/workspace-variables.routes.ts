import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { workspaceRoute } from '../../parent-routes.js';

export const workspaceVariablesRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/variables',
  component: lazyRouteComponent(() => import('./workspace-variables.screen.js'), 'WorkspaceVariablesScreen'),
});
