import { z } from 'zod';
import type { EventKinds, RecordedEvent } from '#kernel';
import type { TrailSettingsEvent } from './audit-trail-settings.js';

/**
 * Returns the organization, because the contract's catalogue (§6) has no such resource. Readers see an update of the
 * organization.
 */
const getOrganizationId = (_: unknown, { organization, stream }: RecordedEvent): string => organization ?? stream;

const defineSwitchEvent = (isOn: boolean) =>
  ({
    schemaVersion: 1,
    topic: 'organizations',
    schema: z.strictObject({}),
    audit: {
      resource: 'organization',
      action: 'update',
      id: getOrganizationId,
      meta: () => ({ audit_trails_enabled: isOn }),
    },
  }) as const;

export const trailSettingsEvents: EventKinds<TrailSettingsEvent> = {
  AuditTrailRetentionChanged: {
    schemaVersion: 1,
    topic: 'organizations',
    schema: z.strictObject({ retentionDays: z.int().nullable() }),
    audit: {
      resource: 'organization',
      action: 'update',
      id: getOrganizationId,
      meta: ({ retentionDays }) => ({ audit_trail_retention_days: retentionDays }),
    },
  },
  AuditTrailEnabled: defineSwitchEvent(true),
  AuditTrailDisabled: defineSwitchEvent(false),
  AuditTrailTested: {
    schemaVersion: 1,
    topic: 'organizations',
    schema: z.strictObject({}),
    audit: { resource: 'audit_configuration', action: 'test' },
  },
};
