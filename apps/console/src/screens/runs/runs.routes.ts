import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { organizationRunsQuery, type RunSearch } from '../../api/runs.js';
import { organizationRoute } from '../../parent-routes.js';

/** Reads the filter of the list from the address. It ignores what it does not know. */
export const parseRunSearch = ({ group, q }: Readonly<Record<string, unknown>>): RunSearch => ({
  ...(group === 'final' || group === 'non_final' ? { group } : {}),
  ...(typeof q === 'string' && q !== '' ? { q } : {}),
});

export const runsRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: '/runs',
  validateSearch: parseRunSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queryClient }, params: { organization }, deps }) =>
    void queryClient.prefetchInfiniteQuery(organizationRunsQuery(organization, deps)),
  component: lazyRouteComponent(() => import('./runs.screen.js'), 'RunsScreen'),
});
