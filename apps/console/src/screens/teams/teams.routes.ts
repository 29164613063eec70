import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { accessPageQuery } from '../../api/access.js';
import { teamsQuery } from '../../api/teams.js';
import { organizationRoute } from '../../parent-routes.js';
import { dropRejected } from '../../search-params.js';
import { parseAccessSearch } from '../access/access.search.js';
import { parseExplanationRequest } from '../why-access/why.search.js';

const validateExplanationRequest = dropRejected(parseExplanationRequest);
const validateAccessSearch = dropRejected(parseAccessSearch);

export const teamsRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: '/teams',
  loader: ({ context: { queryClient }, params: { organization } }) =>
    void queryClient.prefetchInfiniteQuery(teamsQuery(organization)),
  component: lazyRouteComponent(() => import('./teams.screen.js'), 'TeamsScreen'),
});

export const accessRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: '/teams/access',
  validateSearch: validateAccessSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queryClient }, params: { organization }, deps }) => {
    void queryClient.prefetchQuery(accessPageQuery(organization, deps, 1));
    void queryClient.prefetchInfiniteQuery(teamsQuery(organization));
  },
  component: lazyRouteComponent(() => import('../access/access.screen.js'), 'AccessScreen'),
});

export const whyRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: '/teams/why',
  validateSearch: validateExplanationRequest,
  component: lazyRouteComponent(() => import('../why-access/why.screen.js'), 'WhyScreen'),
});
