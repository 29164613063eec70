import { createRouter } from '@tanstack/react-router';
import { queryClient } from './api/query-client.js';
import { Page } from './components/page.js';
import { ConnectionError } from './api/api-error.js';
import { ErrorState, NotFoundState } from './components/states.js';
import { formatSearch, parseSearch } from './search-params.js';
import { routeTree } from './routes.js';

/** The messages of Chromium, Firefox, Safari and Vite if the script or the styles of a screen did not load. */
const NO_SCRIPT = /dynamically imported module|module script|preload CSS/;

const toError = (error: unknown): Error => {
  const failure = error instanceof Error ? error : new Error(String(error));
  return NO_SCRIPT.test(failure.message) ? new ConnectionError(failure.message) : failure;
};

/**
 * The router would load the page again at once, while the server is away, and the browser would then show a page of its own.
 * It does so only for messages that begin as those of browsers.
 */
const keepPage = (event: Event & { readonly payload?: unknown }): void => {
  if (event.payload instanceof Error) event.payload.message = `Code did not load. ${event.payload.message}`;
};
window.addEventListener('vite:preloadError', keepPage);

const RELOADED_AT = 'cadastre-reloaded-at';
const SHORTEST_MS_BETWEEN_RELOADS = 60_000;

/** Loads the page again, which a file that is missing for ever does not repair. */
const reloadSometimes = (): void => {
  const last = Number(sessionStorage.getItem(RELOADED_AT) ?? 0);
  if (Date.now() - last < SHORTEST_MS_BETWEEN_RELOADS) return;
  sessionStorage.setItem(RELOADED_AT, String(Date.now()));
  window.location.reload();
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
  defaultErrorComponent: ({ error }) => (
    <ErrorState error={toError(error)} onRetry={() => window.location.reload()} onReturn={reloadSometimes} />
  ),
});

declare module '@tanstack/react-router' {
  interface Register {
    readonly router: typeof router;
  }
}
