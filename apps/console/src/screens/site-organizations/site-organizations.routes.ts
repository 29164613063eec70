import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { siteOrganizationsQuery } from '../../api/site-organizations.js';
import { rootRoute } from '../../parent-routes.js';
import { dropRejected, toText } from '../../search-params.js';

type NameSearch = { readonly name?: string };

const validateNameSearch = dropRejected(({ name }): NameSearch => {
  const text = toText(name);
  return text === undefined ? {} : { name: text };
});

export const siteOrganizationsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/~site/organizations',
  validateSearch: validateNameSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queryClient }, deps: { name } }) =>
    void queryClient.prefetchInfiniteQuery(siteOrganizationsQuery(name)),
  component: lazyRouteComponent(() => import('./site-organizations.screen.js'), 'SiteOrganizationsScreen'),
});
