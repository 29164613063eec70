import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { toolVersionsQuery, toVersionType } from '../../api/tool-versions.js';
import { rootRoute } from '../../parent-routes.js';
import { toText } from '../../search-params.js';

type ToolVersionsSearch = { readonly program?: 'opa'; readonly version?: string };

export const siteToolVersionsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/~site/tool-versions',
  validateSearch: (search: Readonly<Record<string, unknown>>): ToolVersionsSearch => {
    const version = toText(search['version']);
    return { ...(search['program'] === 'opa' ? { program: 'opa' } : {}), ...(version ? { version } : {}) };
  },
  loaderDeps: ({ search: { program, version = '' } }) => ({ type: toVersionType(program), version }),
  loader: ({ context: { queryClient }, deps: { type, version } }) =>
    void queryClient.prefetchInfiniteQuery(toolVersionsQuery(type, version)),
  component: lazyRouteComponent(() => import('./site-tool-versions.screen.js'), 'SiteToolVersionsScreen'),
});
