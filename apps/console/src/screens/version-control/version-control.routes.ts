import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { connectionsQuery } from '../../api/connections.js';
import { organizationSettingsRoute } from '../../parent-routes.js';

export const versionControlRoute = createRoute({
  getParentRoute: () => organizationSettingsRoute,
  path: '/version-control',
  loader: ({ context: { queryClient }, params: { organization } }) =>
    void queryClient.prefetchInfiniteQuery(connectionsQuery(organization)),
  component: lazyRouteComponent(() => import('./version-control.screen.js'), 'VersionControlScreen'),
});
