import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectQuery, projectsQuery } from '../../api/projects.js';
import { organizationRoute } from '../../parent-routes.js';
import { dropRejected, toText } from '../../search-params.js';

type ProjectSearch = { readonly name?: string };

const parseProjectSearch = (search: Readonly<Record<string, unknown>>): ProjectSearch => {
  const name = toText(search['name']);
  return name === undefined ? {} : { name };
};

const validateProjectSearch = dropRejected(parseProjectSearch);

export const projectsRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: '/projects',
  validateSearch: validateProjectSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queryClient }, params: { organization }, deps: { name } }) =>
    void queryClient.prefetchInfiniteQuery(projectsQuery(organization, name ?? '')),
  component: lazyRouteComponent(() => import('./projects.screen.js'), 'ProjectsScreen'),
});

export const projectRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: '/projects/$project',
  loader: ({ context: { queryClient }, params: { organization, project } }) =>
    void queryClient.prefetchQuery(projectQuery(organization, project)),
  component: lazyRouteComponent(() => import('../project/project.screen.js'), 'ProjectScreen'),
});
