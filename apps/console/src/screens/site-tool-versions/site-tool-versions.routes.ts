import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { toolVersionsQuery } from '../../api/tool-versions.js';
import { rootRoute } from '../../parent-routes.js';
import { toText } from '../../search-params.js';

type ToolVersionsSearch = { readonly version?: string };

export const siteToolVersionsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/~site/tool-versions',
  validateSearch: (search: Readonly<Record<string, unknown>>): ToolVersionsSearch => {
    const version = toText(search['version']);
    return version ? { version } : {};
  },
  loaderDeps: ({ search: { version = '' } }) => ({ version }),
  loader: ({ context: { queryClient }, deps: { version } }) =>
    void queryClient.prefetchInfiniteQuery(toolVersionsQuery(version)),
  component: lazyRouteComponent(() => import('./site-tool-versions.screen.js'), 'SiteToolVersionsScreen'),
});
