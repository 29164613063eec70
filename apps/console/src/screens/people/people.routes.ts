import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { membersQuery } from '../../api/memberships.js';
import { teamTokensQuery } from '../../api/tokens.js';
import { organizationRoute } from '../../parent-routes.js';
import { dropRejected } from '../../search-params.js';
import { parseMemberSearch } from './people.search.js';

const validateMemberSearch = dropRejected(parseMemberSearch);

/** The server records reads of members, so that this screen is not loaded before the person opens it. */
export const peopleRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: '/people',
  preload: false,
  validateSearch: validateMemberSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queryClient }, params: { organization }, deps }) =>
    void queryClient.prefetchInfiniteQuery(membersQuery(organization, deps)),
  component: lazyRouteComponent(() => import('./people.screen.js'), 'PeopleScreen'),
});

export const tokensRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: '/people/tokens',
  preload: false,
  loader: ({ context: { queryClient }, params: { organization } }) =>
    void queryClient.prefetchInfiniteQuery(teamTokensQuery(organization)),
  component: lazyRouteComponent(() => import('../tokens/tokens.screen.js'), 'TokensScreen'),
});
