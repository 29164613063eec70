import type { ModuleDefinition } from '#event-store';
import { historyFollower } from './writing/history.follower.js';

/** The module defines no events of its own. It records versions of resources from the events of other modules. */
export const historyDefinition: ModuleDefinition = {
  name: 'history',
  kinds: {},
  aggregates: [],
  projections: [],
  followers: [historyFollower],
  migrations: new URL('./sql/', import.meta.url),
};
