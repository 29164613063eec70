import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { workspacesPageQuery } from '../../api/workspaces.js';
import { organizationRoute } from '../../parent-routes.js';
import { dropRejected } from '../../search-params.js';
import { getApiSearch, parseWorkspaceSearch } from './workspaces.search.js';

const validateWorkspaceSearch = dropRejected(parseWorkspaceSearch);

export const workspacesRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: '/workspaces',
  validateSearch: validateWorkspaceSearch,
  loaderDeps: ({ search }) => getApiSearch(search),
  loader: ({ context: { queryClient }, params: { organization }, deps }) =>
    void queryClient.prefetchQuery(workspacesPageQuery(organization, deps, 1)),
  component: lazyRouteComponent(() => import('./workspaces.screen.js'), 'WorkspacesScreen'),
});
