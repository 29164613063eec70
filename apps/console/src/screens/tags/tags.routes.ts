import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { gapRowsQuery, reservedKeysQuery, tagRowsQuery } from '../../api/tags.js';
import { organizationRoute } from '../../parent-routes.js';
import { dropRejected } from '../../search-params.js';
import { parseTagSearch } from './tags.search.js';

const validateTagSearch = dropRejected(parseTagSearch);

export const tagsRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: '/tags',
  validateSearch: validateTagSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queryClient }, params: { organization }, deps: { name = '', view } }) => {
    void queryClient.prefetchQuery(reservedKeysQuery(organization));
    if (view === 'gaps') void queryClient.prefetchQuery(gapRowsQuery(organization, 1));
    else void queryClient.prefetchQuery(tagRowsQuery(organization, name, 1));
  },
  component: lazyRouteComponent(() => import('./tags.screen.js'), 'TagsScreen'),
});

export const reservedKeysRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: '/tags/reserved',
  loader: ({ context: { queryClient }, params: { organization } }) =>
    void queryClient.prefetchQuery(reservedKeysQuery(organization)),
  component: lazyRouteComponent(() => import('../reserved-keys/reserved-keys.screen.js'), 'ReservedKeysScreen'),
});
