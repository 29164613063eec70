import { sql, type Projection, type Sql, type Timestamp, type OrganizationDeleted, notFound } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import {
  selectStreamVersions,
  selectSnapshotJson,
  type StreamVersion,
  type StreamSnapshot,
} from '#storage/event-store';
import {
  hasOrganizationName,
  requirePermission,
  requirePermittedRow,
  requireCurrentAccess,
  type Actor,
} from '#api/access';
import type { FeatureSet } from '#organizations/organizations';
import { DEFAULT_RETENTION_DAYS, type TrailSettingsEvent, toTrailSettingsStream } from './audit-trail-settings.js';
import { retentionDays } from './entry-retention.queries.js';

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

export type TrailSettingsRow = {
  readonly organization: string;
  readonly organizationName: string;
  /** Days for which entries are kept; null for ever. */
  readonly retentionDays: number | null;
};

const COLUMNS = sql`o.id as organization, o.name as "organizationName", ${retentionDays} as "retentionDays"`;

export const selectTrailSettings = (organization: string): Sql => sql`
  select ${COLUMNS} from organizations o left join audit_trail_settings s on s.organization = o.id
   where o.id = ${organization}`;

export const findTrailSettings = async (database: Database, actor: Actor, name: string): Promise<TrailSettingsRow> => {
  const row = await database.row<TrailSettingsRow>(sql`
    select ${COLUMNS} from organizations o left join audit_trail_settings s on s.organization = o.id
     where ${hasOrganizationName('o', name)} and ${requireCurrentAccess(actor)}`);
  return requirePermittedRow(actor, 'manage-audit-trail', row);
};

export type TrailSettingsForCommand = {
  readonly organization: string;
  readonly featureSet: FeatureSet;
  /** Id of the stream. */
  readonly id: string;
  readonly snapshot: StreamSnapshot | null;
  /** Version of the organization, which another request may delete. */
  readonly preconditions: readonly StreamVersion[];
};

export const loadTrailSettingsForCommand = async (
  database: Database,
  actor: Actor,
  name: string,
): Promise<TrailSettingsForCommand> => {
  const row = await database.row<Omit<TrailSettingsForCommand, 'id'>>(sql`
    select o.id as organization, o.feature_set as "featureSet", ${selectSnapshotJson("replace(o.id, 'org-', 'atrail-')")} as snapshot,
           ${selectStreamVersions(sql`array[o.id]`)} as preconditions
      from organizations o where ${hasOrganizationName('o', name)} and ${requireCurrentAccess(actor)}`);
  if (!row) throw notFound();
  requirePermission(actor, 'manage-audit-trail', row);
  return { ...row, id: toTrailSettingsStream(row.organization) };
};
