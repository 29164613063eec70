import type { EventRegistry } from '#platform/kernel';
import { defineAggregate, toProjection, type ModuleDefinition } from '#storage/event-store';
import { auditConfigurations } from './settings/audit-configurations.projection.js';
import { createAuditTrailFollower } from './writing/audit-trail.follower.js';
import { trailSettings } from './settings/audit-trail-settings.js';
import { trailSettingsEvents } from './settings/audit-trail-settings.js';
import { auditTrailSettings } from './settings/audit-trail-settings.projection.js';

/**
 * Settings of audit trails. Their events have audit entries like others, so this module comes before the audit trail
 * itself.
 */
export const auditTrailSettingsDefinition: ModuleDefinition = {
  name: 'audit-trail-settings',
  kinds: trailSettingsEvents,
  aggregates: [defineAggregate('atrail', trailSettings)],
  projections: [toProjection(auditTrailSettings), toProjection(auditConfigurations)],
  followers: [],
  // A migration of the audit trail creates its tables.
  migrations: null,
};

/** The module has no events of its own; its follower records the events of the registry. */
export const createAuditTrailDefinition = (registry: EventRegistry): ModuleDefinition => ({
  name: 'audit-trail',
  kinds: {},
  aggregates: [],
  projections: [],
  followers: [createAuditTrailFollower(registry)],
  migrations: new URL('./sql/', import.meta.url),
  tablesOutsideLog: [
    { table: 'audit_trail.walks', backup: 'empty', because: 'it contains the state of readers that read page by page' },
  ],
});
