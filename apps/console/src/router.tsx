import { createRouter } from '@tanstack/react-router';
import { queryClient } from './api/query-client.js';
import { Page } from './components/page.js';
import { ConnectionError } from './api/api-error.js';
import { ErrorState, NotFoundState } from './components/states.js';
import { formatSearch, parseSearch } from './search-params.js';
import { routeTree } from './routes.js';

/** What Chromium, Firefox and Safari report if the script of a screen did not load. */
const NO_SCRIPT = /dynamically imported module|module script/;

const toError = (error: unknown): Error => {
  const failure = error instanceof Error ? error : new Error(String(error));
  return NO_SCRIPT.test(failure.message) ? new ConnectionError(failure.message) : failure;
};

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
  // React keeps the failure of a script until the page is loaded again.
  defaultErrorComponent: ({ error }) => <ErrorState error={toError(error)} onRetry={() => window.location.reload()} />,
});

declare module '@tanstack/react-router' {
  interface Register {
    readonly router: typeof router;
  }
}
