import type { EventRegistry } from '#platform/kernel';
import type { ModuleDefinition } from '#storage/event-store';
import { createHistoryFollower } from './writing/history.follower.js';

/** The module defines no events of its own. It records versions of resources as the definitions of all events say. */
export const createHistoryDefinition = (registry: EventRegistry): ModuleDefinition => ({
  name: 'history',
  kinds: {},
  aggregates: [],
  projections: [],
  followers: [createHistoryFollower(registry)],
  migrations: new URL('./sql/', import.meta.url),
});
