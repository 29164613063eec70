import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { siteUsersQuery } from '../../api/site-users.js';
import { rootRoute } from '../../parent-routes.js';
import { dropRejected } from '../../search-params.js';
import { parseSiteUserSearch } from './site-users.search.js';

const validateUserSearch = dropRejected(parseSiteUserSearch);

export const siteUsersRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/~site/users',
  validateSearch: validateUserSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queryClient }, deps }) => void queryClient.prefetchInfiniteQuery(siteUsersQuery(deps)),
  component: lazyRouteComponent(() => import('./site-users.screen.js'), 'SiteUsersScreen'),
});
