import { z } from 'zod';
import type { EventKinds, Recorded } from '#kernel';
import type { TrailSettingsEvent } from './audit-trail-settings.js';

/** The catalogue has no word for the trail's settings (contract §6): to readers they are settings of the organization. */
const ofOrganization = (_: unknown, { organization, stream }: Recorded): string => organization ?? stream;

const switched = (isOn: boolean) =>
  ({
    schemaVersion: 1,
    topic: 'organizations',
    schema: z.strictObject({}),
    audit: {
      resource: 'organization',
      action: 'update',
      id: ofOrganization,
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
      id: ofOrganization,
      meta: ({ retentionDays }) => ({ audit_trail_retention_days: retentionDays }),
    },
  },
  AuditTrailEnabled: switched(true),
  AuditTrailDisabled: switched(false),
  AuditTrailTested: {
    schemaVersion: 1,
    topic: 'organizations',
    schema: z.strictObject({}),
    audit: { resource: 'audit_configuration', action: 'test' },
  },
};
