import { sql, type Projection, type Sql, type Timestamp, type OrganizationDeleted } from '#platform/kernel';
import { DEFAULT_RETENTION_DAYS, type TrailSettingsEvent } from './audit-trail-settings.js';

/** Entries that expired under the previous settings stay expired, because they may have been pruned. */
const selectKeptFrom = (time: Timestamp): Sql =>
  sql`greatest(s.kept_from, ${time}::timestamptz - 24 * s.retention_days * interval '1 hour')`;

type RetentionChanged = Extract<TrailSettingsEvent, { type: 'AuditTrailRetentionChanged' }>;

export const auditTrailSettings: Projection<RetentionChanged | OrganizationDeleted> = {
  name: 'audit_trail_settings',
  version: 1,
  tables: ['audit_trail_settings'],
  on: {
    AuditTrailRetentionChanged: ({ retentionDays }, { organization, time }) => sql`
      insert into audit_trail_settings as s (organization, retention_days, kept_from)
      values (${organization}, ${retentionDays}, ${time}::timestamptz - ${24 * DEFAULT_RETENTION_DAYS} * interval '1 hour')
      on conflict (organization) do update
        set retention_days = excluded.retention_days, kept_from = ${selectKeptFrom(time)}`,
    // After the deletion nobody can read the audit trail or change its retention, so entries are no longer kept for
    // ever. The row stays, like that of the audit trail; without it, pruned entries would count as existing again.
    OrganizationDeleted: (_, { stream, time }) => sql`
      update audit_trail_settings s set retention_days = ${DEFAULT_RETENTION_DAYS}, kept_from = ${selectKeptFrom(time)}
       where organization = ${stream}`,
  },
};
