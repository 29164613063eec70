import { sql, type Projection, type OrganizationDeleted } from '#platform/kernel';
import type { TrailSettingsEvent } from './audit-trail-settings.js';

type TrailSwitchEvent = Extract<TrailSettingsEvent, { type: 'AuditTrailEnabled' | 'AuditTrailDisabled' }>;

export const auditConfigurations: Projection<TrailSwitchEvent | OrganizationDeleted> = {
  name: 'audit_configurations',
  version: 1,
  tables: ['audit_configurations'],
  on: {
    // Recording is enabled by default, so a row exists since it was disabled.
    AuditTrailEnabled: (_, { organization, time }) => sql`
      update audit_configurations set enabled = true, enabled_at = ${time}, updated_at = ${time}
       where organization = ${organization}`,
    AuditTrailDisabled: (_, { organization, time }) => sql`
      insert into audit_configurations (organization, enabled, disabled_at, updated_at)
      values (${organization}, false, ${time}, ${time})
      on conflict (organization) do update
        set enabled = false, disabled_at = excluded.disabled_at, updated_at = excluded.updated_at`,
    OrganizationDeleted: (_, { stream }) => sql`delete from audit_configurations where organization = ${stream}`,
  },
};
