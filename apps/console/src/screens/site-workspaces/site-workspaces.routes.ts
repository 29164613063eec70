import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { siteWorkspacesQuery } from '../../api/site-workspaces.js';
import { rootRoute } from '../../parent-routes.js';
import { dropRejected } from '../../search-params.js';
import { parseSiteWorkspaceSearch } from './site-workspaces.search.js';

const validateWorkspaceSearch = dropRejected(parseSiteWorkspaceSearch);

export const siteWorkspacesRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/~site/workspaces',
  validateSearch: validateWorkspaceSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queryClient }, deps }) => void queryClient.prefetchInfiniteQuery(siteWorkspacesQuery(deps)),
  component: lazyRouteComponent(() => import('./site-workspaces.screen.js'), 'SiteWorkspacesScreen'),
});
