import type { QueryClient } from '@tanstack/react-query';
import { createRootRouteWithContext, createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { accountQuery } from './api/account.js';
import { organizationQuery } from './api/organizations.js';
import { teamQuery } from './api/teams.js';
import { workspaceQuery } from './api/workspaces.js';
import { NotFoundState } from './components/states.js';
import { ConsoleLayout } from './layout/console-layout.js';

/* Routes that have other routes below them. A loader starts the requests of a screen, and does not wait for them. */

type RouterContext = { readonly queryClient: QueryClient };

export const rootRoute = createRootRouteWithContext<RouterContext>()({
  component: ConsoleLayout,
  loader: ({ context: { queryClient } }) => void queryClient.prefetchQuery(accountQuery),
});

/** Screens of an organization. Other screens have paths that begin with `~`, which names of organizations cannot contain. */
export const organizationRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/$organization',
  loader: ({ context: { queryClient }, params: { organization } }) =>
    void queryClient.prefetchQuery(organizationQuery(organization)),
});

/** Sections of the settings of an organization, beside the links to all of them. */
export const organizationSettingsRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: '/settings',
  component: lazyRouteComponent(
    () => import('./screens/organization-settings/organization-settings.screen.js'),
    'OrganizationSettingsScreen',
  ),
});

/** Screens of a team, below its name and its tabs. */
export const teamRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: '/teams/$team',
  loader: ({ context: { queryClient }, params: { organization, team } }) =>
    void queryClient.prefetchQuery(teamQuery(organization, team)),
  component: lazyRouteComponent(() => import('./screens/team/team.screen.js'), 'TeamScreen'),
  // The screen of the team has the heading.
  notFoundComponent: () => NotFoundState({}),
});

/** Screens of a workspace, below its name and its tabs. */
export const workspaceRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: '/workspaces/$workspace',
  loader: ({ context: { queryClient }, params: { organization, workspace } }) =>
    void queryClient.prefetchQuery(workspaceQuery(organization, workspace)),
  component: lazyRouteComponent(() => import('./screens/workspace/workspace.screen.js'), 'WorkspaceScreen'),
  // The screen of the workspace has the heading.
  notFoundComponent: () => NotFoundState({}),
});
