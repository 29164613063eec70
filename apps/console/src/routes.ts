import type { QueryClient } from '@tanstack/react-query';
import { createRootRouteWithContext, createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { accountQuery } from './api/account.js';
import { organizationsQuery } from './api/organizations.js';
import { workspaceQuery, workspacesPageQuery } from './api/workspaces.js';
import { ConsoleLayout } from './layout/console-layout.js';
import { getOrganizationPath } from './layout/navigation.js';
import { parseWorkspaceSearch } from './screens/workspaces/workspaces.search.js';

/*
 * Every screen of the console. The code of a screen is loaded when a person opens it. A loader starts the requests of the
 * screen at the same time, and does not wait for them.
 */

type RouterContext = { readonly queryClient: QueryClient };

const rootRoute = createRootRouteWithContext<RouterContext>()({
  component: ConsoleLayout,
  loader: ({ context: { queryClient } }) => void queryClient.prefetchQuery(accountQuery),
});

const organizationsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  loader: ({ context: { queryClient } }) => void queryClient.prefetchInfiniteQuery(organizationsQuery()),
  component: lazyRouteComponent(() => import('./screens/organizations/organizations.screen.js'), 'OrganizationsScreen'),
});

const organizationRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/$organization',
});

const startRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: '/',
  beforeLoad: ({ params: { organization } }) =>
    redirect({ to: getOrganizationPath(organization), replace: true, throw: true }),
});

const workspacesRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: '/workspaces',
  validateSearch: parseWorkspaceSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queryClient }, params: { organization }, deps }) =>
    void queryClient.prefetchQuery(workspacesPageQuery(organization, deps, 1)),
  component: lazyRouteComponent(() => import('./screens/workspaces/workspaces.screen.js'), 'WorkspacesScreen'),
});

const workspaceRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: '/workspaces/$workspace',
  loader: ({ context: { queryClient }, params: { organization, workspace } }) =>
    void queryClient.prefetchQuery(workspaceQuery(organization, workspace)),
  component: lazyRouteComponent(() => import('./screens/workspace/workspace.screen.js'), 'WorkspaceScreen'),
});

const workspaceOverviewRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/',
  component: lazyRouteComponent(
    () => import('./screens/workspace-overview/workspace-overview.screen.js'),
    'WorkspaceOverviewScreen',
  ),
});

const workspaceStateRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/state',
  component: lazyRouteComponent(
    () => import('./screens/workspace-state/workspace-state.screen.js'),
    'WorkspaceStateScreen',
  ),
});

export const routeTree = rootRoute.addChildren([
  organizationsRoute,
  organizationRoute.addChildren([
    startRoute,
    workspacesRoute,
    workspaceRoute.addChildren([workspaceOverviewRoute, workspaceStateRoute]),
  ]),
]);
