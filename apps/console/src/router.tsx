import { createRouter } from '@tanstack/react-router';
import { queryClient } from './api/query-client.js';
import { Page } from './components/page.js';
import { ErrorState, NotFoundState } from './components/states.js';
import { formatSearch, parseSearch } from './search-params.js';
import { routeTree } from './routes.js';

export const router = createRouter({
  routeTree,
  basepath: '/app',
  context: { queryClient },
  parseSearch,
  stringifySearch: formatSearch,
  defaultPreload: 'intent',
  // TanStack Query decides whether data are fresh.
  defaultPreloadStaleTime: 0,
  scrollRestoration: true,
  defaultNotFoundComponent: () => (
    <Page title="Not found">
      <NotFoundState />
    </Page>
  ),
  defaultErrorComponent: ({ error, reset }) => (
    <ErrorState error={error instanceof Error ? error : new Error(String(error))} onRetry={reset} />
  ),
});

declare module '@tanstack/react-router' {
  interface Register {
    readonly router: typeof router;
  }
}
