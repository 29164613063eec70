import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { workspaceRoute } from '../../parent-routes.js';

/** The ids of the state versions to compare. */
export type StateComparison = { readonly from?: string; readonly to?: string };

const toId = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

export const stateVersionsRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/states',
  validateSearch: ({ from, to }: Readonly<Record<string, unknown>>): StateComparison => ({
    from: toId(from),
    to: toId(to),
  }),
  component: lazyRouteComponent(() => import('./state-versions.screen.js'), 'StateVersionsScreen'),
});
