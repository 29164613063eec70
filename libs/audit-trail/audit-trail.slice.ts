import type { EventRegistry } from '#kernel';
import type { Slice } from '#event-store';
import { auditTrailFollower } from './audit-trail.follower.js';

/** It has no events of its own; it tells those of the slices that the registry is made of. */
export const auditTrailSlice = (registry: EventRegistry): Slice => ({
  name: 'audit-trail',
  kinds: {},
  aggregates: [],
  projections: [],
  followers: [auditTrailFollower(registry)],
  migrations: new URL('./sql/', import.meta.url),
});
