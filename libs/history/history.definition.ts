import type { ModuleDefinition } from '#event-store';
import { historyFollower } from './writing/history.follower.js';

/** It has no events of its own; it keeps what those of others have made of things. */
export const historyDefinition: ModuleDefinition = {
  name: 'history',
  kinds: {},
  aggregates: [],
  projections: [],
  followers: [historyFollower],
  migrations: new URL('./sql/', import.meta.url),
};
