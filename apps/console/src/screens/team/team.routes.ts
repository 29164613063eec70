import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { notificationsQuery } from '../../api/notifications.js';
import { teamMembersQuery } from '../../api/teams.js';
import { tokensOfTeamQuery } from '../../api/tokens.js';
import { teamRoute } from '../../parent-routes.js';

export const teamMembersRoute = createRoute({
  getParentRoute: () => teamRoute,
  path: '/',
  loader: ({ context: { queryClient }, params: { organization, team } }) =>
    void queryClient.prefetchInfiniteQuery(teamMembersQuery(organization, team)),
  component: lazyRouteComponent(() => import('./team-members.js'), 'TeamMembersScreen'),
});

export const teamAccessRoute = createRoute({
  getParentRoute: () => teamRoute,
  path: '/access',
  component: lazyRouteComponent(() => import('./team-access.js'), 'TeamAccessScreen'),
});

export const teamTokensRoute = createRoute({
  getParentRoute: () => teamRoute,
  path: '/tokens',
  loader: ({ context: { queryClient }, params: { organization, team } }) =>
    void queryClient.prefetchInfiniteQuery(tokensOfTeamQuery(organization, team)),
  component: lazyRouteComponent(() => import('./team-tokens.js'), 'TeamTokensScreen'),
});

export const teamNotificationsRoute = createRoute({
  getParentRoute: () => teamRoute,
  path: '/notifications',
  loader: ({ context: { queryClient }, params: { organization, team } }) =>
    void queryClient.prefetchQuery(notificationsQuery(organization, { kind: 'team', id: team })),
  component: lazyRouteComponent(() => import('./team-notifications.js'), 'TeamNotificationsScreen'),
});

export const teamSettingsRoute = createRoute({
  getParentRoute: () => teamRoute,
  path: '/settings',
  component: lazyRouteComponent(() => import('./team-settings.js'), 'TeamSettingsScreen'),
});
