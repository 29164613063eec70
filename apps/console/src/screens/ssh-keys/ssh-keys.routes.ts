import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { sshKeysQuery } from '../../api/ssh-keys.js';
import { organizationSettingsRoute } from '../../parent-routes.js';

export const sshKeysRoute = createRoute({
  getParentRoute: () => organizationSettingsRoute,
  path: '/ssh-keys',
  loader: ({ context: { queryClient }, params: { organization } }) =>
    void queryClient.prefetchInfiniteQuery(sshKeysQuery(organization)),
  component: lazyRouteComponent(() => import('./ssh-keys.screen.js'), 'SshKeysScreen'),
});
