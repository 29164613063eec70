import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { newestEntriesQuery } from '../../api/audit-trail.js';
import { organizationRoute, rootRoute } from '../../parent-routes.js';
import { dropRejected } from '../../search-params.js';
import { parseTrailSearch, toTrailFilter } from './audit-trail.search.js';

const validateTrailSearch = dropRejected(parseTrailSearch);

export const auditTrailRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: '/audit-trail',
  validateSearch: validateTrailSearch,
  loaderDeps: ({ search }) => toTrailFilter(search),
  loader: ({ context: { queryClient }, params: { organization }, deps }) =>
    void queryClient.prefetchQuery(newestEntriesQuery(organization, deps)),
  component: lazyRouteComponent(() => import('./audit-trail.screen.js'), 'AuditTrailScreen'),
});

export const siteAuditTrailRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/~site/audit-trail',
  validateSearch: validateTrailSearch,
  loaderDeps: ({ search }) => toTrailFilter(search),
  loader: ({ context: { queryClient }, deps }) => void queryClient.prefetchQuery(newestEntriesQuery(null, deps)),
  component: lazyRouteComponent(() => import('./audit-trail.screen.js'), 'SiteAuditTrailScreen'),
});
