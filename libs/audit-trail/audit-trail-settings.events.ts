import { z } from 'zod';
import type { EventKinds } from '#kernel';
import type { TrailSettingsEvent } from './audit-trail-settings.js';

export const trailSettingsEvents: EventKinds<TrailSettingsEvent> = {
  AuditTrailRetentionChanged: {
    schemaVersion: 1,
    topic: 'organizations',
    schema: z.strictObject({ retentionDays: z.int().nullable() }),
    // The catalogue has no word for it (contract §6): to its readers it is a setting of the organization.
    audit: {
      resource: 'organization',
      action: 'update',
      id: (_, { organization, stream }) => organization ?? stream,
      meta: ({ retentionDays }) => ({ audit_trail_retention_days: retentionDays }),
    },
  },
};
