import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { runQuery } from '../../api/runs.js';
import { organizationRoute, workspaceRoute } from '../../parent-routes.js';

export const workspaceRunsRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/runs',
  component: lazyRouteComponent(() => import('./workspace-runs.screen.js'), 'WorkspaceRunsScreen'),
});

export const workspaceRunRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/runs/$run',
  loader: ({ context: { queryClient }, params: { organization, run } }) =>
    void queryClient.prefetchQuery(runQuery(organization, run)),
  component: lazyRouteComponent(() => import('../run/run.screen.js'), 'RunScreen'),
});

/** The address of a run that terraform prints. */
export const terraformRunRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: '/$workspace/runs/$run',
  beforeLoad: ({ params }) =>
    redirect({ to: '/$organization/workspaces/$workspace/runs/$run', params, replace: true, throw: true }),
});
