import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { workspaceRoute } from '../../parent-routes.js';

export type TimelineSearch = {
  /** The time at which the screen shows the workspace, in ISO 8601. Undefined for now. */
  readonly at?: string;
};

export const workspaceTimelineRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/timeline',
  validateSearch: ({ at }: Readonly<Record<string, unknown>>): TimelineSearch =>
    typeof at === 'string' && !Number.isNaN(Date.parse(at)) ? { at: new Date(at).toISOString() } : {},
  component: lazyRouteComponent(() => import('./workspace-timeline.screen.js'), 'WorkspaceTimelineScreen'),
});
