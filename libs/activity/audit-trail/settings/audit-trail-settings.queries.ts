import { notFound, sql, type Sql } from '#platform/kernel';
import {
  selectStreamVersions,
  selectSnapshotJson,
  type StreamVersion,
  type StreamSnapshot,
} from '#storage/event-store';
import type { Database } from '#platform/postgres';
import {
  hasOrganizationName,
  requirePermission,
  requirePermittedRow,
  requireCurrentAccess,
  type Actor,
} from '#api/access';
import type { FeatureSet } from '#organizations/organizations';
import { toTrailSettingsStream } from './audit-trail-settings.js';
import { retentionDays } from './entry-retention.queries.js';

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
