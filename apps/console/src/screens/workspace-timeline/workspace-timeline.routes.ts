import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { workspaceRoute } from '../../parent-routes.js';
import { dropRejected, toTime } from '../../search-params.js';

type TimelineSearch = {
  /** The time at which the screen shows the workspace, in ISO 8601. Undefined for now. */
  readonly at?: string;
};

const parseTimelineSearch = (search: Readonly<Record<string, unknown>>): TimelineSearch => {
  const at = toTime(search['at']);
  return at === undefined ? {} : { at };
};

const validateTimelineSearch = dropRejected(parseTimelineSearch);

export const workspaceTimelineRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/timeline',
  validateSearch: validateTimelineSearch,
  component: lazyRouteComponent(() => import('./workspace-timeline.screen.js'), 'WorkspaceTimelineScreen'),
});
