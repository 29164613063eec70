import { sql, type Projection, type Sql, type Timestamp, type OrganizationDeleted } from '#kernel';
import { DEFAULT_RETENTION_DAYS, type TrailSettingsEvent } from './audit-trail-settings.js';

/** What has become too old under the settings until now stays so: it may have been pruned. */
const selectKeptFrom = (time: Timestamp): Sql =>
  sql`greatest(s.kept_from, ${time}::timestamptz - 24 * s.retention_days * interval '1 hour')`;

type RetentionChanged = Extract<TrailSettingsEvent, { type: 'AuditTrailRetentionChanged' }>;

export const auditTrailSettings: Projection<RetentionChanged | OrganizationDeleted> = {
  name: 'audit_trail_settings',
  tables: ['audit_trail_settings'],
  on: {
    AuditTrailRetentionChanged: ({ retentionDays }, { organization, time }) => sql`
      insert into audit_trail_settings as s (organization, retention_days, kept_from)
      values (${organization}, ${retentionDays}, ${time}::timestamptz - ${24 * DEFAULT_RETENTION_DAYS} * interval '1 hour')
      on conflict (organization) do update
        set retention_days = excluded.retention_days, kept_from = ${selectKeptFrom(time)}`,
    // Nobody reads the trail any more, and nobody could say when to let go of what is kept for ever. The row stays as the
    // trail's own does: without it, what is pruned already would count as kept again.
    OrganizationDeleted: (_, { stream, time }) => sql`
      update audit_trail_settings s set retention_days = ${DEFAULT_RETENTION_DAYS}, kept_from = ${selectKeptFrom(time)}
       where organization = ${stream}`,
  },
};
