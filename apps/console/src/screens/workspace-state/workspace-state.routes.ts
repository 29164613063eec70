import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { workspaceRoute } from '../../parent-routes.js';

export const workspaceStateRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/state',
  component: lazyRouteComponent(() => import('./workspace-state.screen.js'), 'WorkspaceStateScreen'),
});
