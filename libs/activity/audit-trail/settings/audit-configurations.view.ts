import { sql, type Projection, type OrganizationDeleted, type Sql, type Timestamp } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import { hasOrganizationName, requirePermittedRow, requireCurrentAccess, type Actor } from '#api/access';
import { type TrailSettingsEvent, toTrailSettingsStream } from './audit-trail-settings.js';

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

export type AuditConfigurationRow = {
  readonly organization: string;
  readonly organizationName: string;
  readonly enabled: boolean;
  readonly enabledAt: Timestamp | null;
  readonly disabledAt: Timestamp | null;
  /** Time of the newest entry that the follower has written; null if there is none. */
  readonly lastEntryAt: Timestamp | null;
  readonly updatedAt: Timestamp;
};

const CONFIGURATIONS = sql`
  select o.id as organization, o.name as "organizationName", coalesce(c.enabled, true) as enabled,
         c.enabled_at as "enabledAt", c.disabled_at as "disabledAt", t.last as "lastEntryAt",
         coalesce(c.updated_at, o.created_at) as "updatedAt"
    from organizations o
    left join audit_configurations c on c.organization = o.id
    left join audit_trails t on t.organization = o.id`;

export const selectAuditConfiguration = (organization: string): Sql =>
  sql`${CONFIGURATIONS} where o.id = ${organization}`;

/**
 * Returns the configuration of the organization with this name. Throws not-found for callers that do not own the
 * organization.
 */
export const findAuditConfiguration = async (
  database: Database,
  actor: Actor,
  name: string,
): Promise<AuditConfigurationRow> => {
  const row = await database.row<AuditConfigurationRow>(
    sql`${CONFIGURATIONS} where ${hasOrganizationName('o', name)} and ${requireCurrentAccess(actor)}`,
  );
  return requirePermittedRow(actor, 'manage-audit-trail', row);
};

/** Returns whether the audit trail contains the entry of a test by this request. */
export const hasTestEntry = async (database: Database, organization: string, request: string): Promise<boolean> => {
  const row = await database.row(sql`
    select 1 from event_store.events v
      join audit_trail_entries e on e.id = v.id and e.organization = v.organization
     where v.stream = ${toTrailSettingsStream(organization)} and v.type = 'AuditTrailTested'
       and coalesce(e.request, e.entry -> 'request' ->> 'id') = ${request}
     order by v.version desc limit 1`);
  return row !== undefined;
};
