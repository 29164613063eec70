import { z } from 'zod';
import { defineEvents, type EventKinds, type RecordedEvent } from '#kernel';
import { inOrganization } from '#access/rules';
import type { TrailSettingsEvent } from './audit-trail-settings.js';

/**
 * Returns the organization, because the contract's catalogue (§6) has no such resource. Readers see an update of the
 * organization.
 */
const getOrganizationId = (_: unknown, { organization, stream }: RecordedEvent): string => organization ?? stream;

const defineSwitchEvent = (isOn: boolean) =>
  ({
    schema: z.strictObject({}),
    live: 'changed',
    audit: {
      action: 'update',
      id: getOrganizationId,
      meta: () => ({ audit_trails_enabled: isOn }),
    },
  }) as const;

export const trailSettingsEvents = defineEvents(
  {
    topic: 'organizations',
    stream: 'atrail',
    audited: 'organization',
    live: inOrganization('audit-trail-settings', 'manage-audit-trail'),
  },
  {
    AuditTrailRetentionChanged: {
      schema: z.strictObject({ retentionDays: z.int().nullable() }),
      audit: {
        action: 'update',
        id: getOrganizationId,
        meta: ({ retentionDays }) => ({ audit_trail_retention_days: retentionDays }),
      },
      live: 'changed',
    },
    AuditTrailEnabled: defineSwitchEvent(true),
    AuditTrailDisabled: defineSwitchEvent(false),
    AuditTrailTested: {
      schema: z.strictObject({}),
      audit: { resource: 'audit_configuration', action: 'test' },
      live: { unsent: 'a test of the audit trail, which changes nothing' },
    },
  },
) satisfies EventKinds<TrailSettingsEvent>;
