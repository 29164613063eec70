import { toProjection, type ModuleDefinition } from '#storage/event-store';
import { grantedScopes } from './scopes/granted-scopes.projection.js';

/** The view of live streams. The module has no events of its own. */
export const liveEventsDefinition: ModuleDefinition = {
  name: 'live-events',
  kinds: {},
  aggregates: [],
  projections: [toProjection(grantedScopes)],
  followers: [],
  migrations: new URL('./sql/', import.meta.url),
};
