import { notFound, sql, type Sql } from '#kernel';
import { heldStreams, snapshotAt, type Database, type Held, type Snapshot } from '#event-store';
import { demand, fresh, type Actor } from '#access';
import type { FeatureSet } from '#organizations';
import { settingsOf } from './audit-trail-settings.js';
import { retentionDays } from './kept-entries.queries.js';

export type TrailSettingsRow = {
  /** `org-…` */
  readonly organization: string;
  readonly organizationName: string;
  /** Null: for ever. */
  readonly retentionDays: number | null;
};

const COLUMNS = sql`o.id as organization, o.name as "organizationName", ${retentionDays} as "retentionDays"`;

export const trailSettingsOf = (organization: string): Sql => sql`
  select ${COLUMNS} from organizations o left join audit_trail_settings s on s.organization = o.id
   where o.id = ${organization}`;

export const trailSettingsFor = async (database: Database, actor: Actor, name: string): Promise<TrailSettingsRow> => {
  const row = await database.row<TrailSettingsRow>(sql`
    select ${COLUMNS} from organizations o left join audit_trail_settings s on s.organization = o.id
     where o.name = ${name} and ${fresh(actor)}`);
  if (!row) throw notFound();
  demand(actor, 'manage-audit-trail', row);
  return row;
};

export type TrailSettingsForCommand = {
  readonly organization: string;
  readonly featureSet: FeatureSet;
  readonly stream: string;
  readonly snapshot: Snapshot | null;
  /** The organization, which may be about to go. */
  readonly held: readonly Held[];
};

export const trailSettingsForCommand = async (
  database: Database,
  actor: Actor,
  name: string,
): Promise<TrailSettingsForCommand> => {
  const row = await database.row<Omit<TrailSettingsForCommand, 'stream'>>(sql`
    select o.id as organization, o.feature_set as "featureSet", ${snapshotAt("replace(o.id, 'org-', 'atrail-')")} as snapshot,
           ${heldStreams(sql`array[o.id]`)} as held
      from organizations o where o.name = ${name} and ${fresh(actor)}`);
  if (!row) throw notFound();
  demand(actor, 'manage-audit-trail', row);
  return { ...row, stream: settingsOf(row.organization) };
};
