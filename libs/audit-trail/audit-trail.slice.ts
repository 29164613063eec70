import type { EventRegistry } from '#kernel';
import { aggregate, kindsOf, projectionOf, type Slice } from '#event-store';
import { auditConfigurations } from './audit-configurations.projection.js';
import { auditTrailFollower } from './audit-trail.follower.js';
import { trailSettings } from './audit-trail-settings.js';
import { trailSettingsEvents } from './audit-trail-settings.events.js';
import { auditTrailSettings } from './audit-trail-settings.projection.js';

/** How organizations want their trails. Its events are told as others are, so it comes before the trail itself. */
export const auditTrailSettingsSlice: Slice = {
  name: 'audit-trail-settings',
  kinds: kindsOf(trailSettingsEvents),
  aggregates: [aggregate('atrail', trailSettings)],
  projections: [projectionOf(auditTrailSettings), projectionOf(auditConfigurations)],
  followers: [],
  // Its tables are made with the trail's.
  migrations: null,
};

/** It has no events of its own; it tells those of the slices that the registry is made of. */
export const auditTrailSlice = (registry: EventRegistry): Slice => ({
  name: 'audit-trail',
  kinds: {},
  aggregates: [],
  projections: [],
  followers: [auditTrailFollower(registry)],
  migrations: new URL('./sql/', import.meta.url),
});
