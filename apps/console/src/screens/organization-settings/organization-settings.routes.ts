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
