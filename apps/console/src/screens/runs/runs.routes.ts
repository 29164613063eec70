import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { organizationRunsQuery } from '../../api/runs.js';
import { organizationRoute } from '../../parent-routes.js';
import { dropRejected } from '../../search-params.js';
import { parseRunSearch } from './runs.search.js';

const validateRunSearch = dropRejected(parseRunSearch);

export const runsRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: '/runs',
  validateSearch: validateRunSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queryClient }, params: { organization }, deps }) =>
    void queryClient.prefetchInfiniteQuery(organizationRunsQuery(organization, deps)),
  component: lazyRouteComponent(() => import('./runs.screen.js'), 'RunsScreen'),
});
