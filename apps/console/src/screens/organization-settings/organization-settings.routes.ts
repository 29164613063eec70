import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { ipAllowlistQuery } from '../../api/ip-allowlist.js';
import { organizationSettingsRoute } from '../../parent-routes.js';

const loadFrame = () => import('./organization-settings.screen.js');

export const firstSectionRoute = createRoute({
  getParentRoute: () => organizationSettingsRoute,
  path: '/',
  component: lazyRouteComponent(loadFrame, 'FirstSection'),
});

export const ipAllowlistRoute = createRoute({
  getParentRoute: () => organizationSettingsRoute,
  path: '/ip-allowlist',
  loader: ({ context: { queryClient }, params: { organization } }) =>
    void queryClient.prefetchQuery(ipAllowlistQuery(organization)),
  component: lazyRouteComponent(() => import('../ip-allowlist/ip-allowlist.screen.js'), 'IpAllowlistScreen'),
});

/* The sections below are opened rarely, so that no loader brings their requests into the first view. */

export const generalRoute = createRoute({
  getParentRoute: () => organizationSettingsRoute,
  path: '/general',
  component: lazyRouteComponent(
    () => import('../organization-general/organization-general.screen.js'),
    'OrganizationGeneralScreen',
  ),
});

export const dataRetentionRoute = createRoute({
  getParentRoute: () => organizationSettingsRoute,
  path: '/data-retention',
  component: lazyRouteComponent(
    () => import('../organization-policies/data-retention.screen.js'),
    'DataRetentionScreen',
  ),
});

export const tokenLifetimesRoute = createRoute({
  getParentRoute: () => organizationSettingsRoute,
  path: '/token-lifetimes',
  component: lazyRouteComponent(
    () => import('../organization-policies/token-lifetimes.screen.js'),
    'TokenLifetimesScreen',
  ),
});

export const auditSettingsRoute = createRoute({
  getParentRoute: () => organizationSettingsRoute,
  path: '/audit',
  component: lazyRouteComponent(
    () => import('../organization-policies/audit-settings.screen.js'),
    'AuditSettingsScreen',
  ),
});

export const factSourcesRoute = createRoute({
  getParentRoute: () => organizationSettingsRoute,
  path: '/fact-sources',
  component: lazyRouteComponent(() => import('../organization-policies/fact-sources.screen.js'), 'FactSourcesScreen'),
});
