import { notFound, sql, type Sql } from '#kernel';
import { heldStreams, snapshotAt, type Database, type Held, type Snapshot } from '#event-store';
import { demand, fresh, type Actor } from '#access';
import { RETENTION_DAYS, settingsOf } from './trail-settings.js';

export type TrailSettingsRow = {
  /** `org-…` */
  readonly organization: string;
  readonly organizationName: string;
  /** Null: for ever. */
  readonly retentionDays: number | null;
};

/** Of settings `s` that may be missing. */
const days = sql`case when s.organization is null then ${RETENTION_DAYS} else s.retention_days end`;

/** The oldest moment that a trail still shows, whatever is pruned; `s` are its settings, or nulls. The log keeps everything. */
export const keptFrom = (now: Date): Sql =>
  sql`greatest(s.kept_from, ${now.toISOString()}::timestamptz - 24 * (${days}) * interval '1 hour')`;

/**
 * The newest entry that is too old, of each trail. It is not shown, but stays: a reader whose cursor it is has missed
 * nothing, however long nothing happened.
 */
export const bounds = (now: Date): Sql => sql`
  select t.organization, b.ordinal as bound
    from audit_trails t
    left join audit_trail_settings s on s.organization = t.organization
    cross join lateral (
      select e.ordinal from audit_trail_entries e
       where e.organization = t.organization and e.timestamp < ${keptFrom(now)}
       order by e.timestamp desc limit 1) b`;

/** All that is too old at once: for who compares copies of a trail. */
export const removeExpired = (now: Date): Sql => sql`
  delete from audit_trail_entries e using (${bounds(now)}) bound
   where e.organization = bound.organization and e.ordinal < bound.bound`;

const COLUMNS = sql`o.id as organization, o.name as "organizationName", ${days} as "retentionDays"`;

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
    select o.id as organization, ${snapshotAt("replace(o.id, 'org-', 'atrail-')")} as snapshot,
           ${heldStreams(sql`array[o.id]`)} as held
      from organizations o where o.name = ${name} and ${fresh(actor)}`);
  if (!row) throw notFound();
  demand(actor, 'manage-audit-trail', row);
  return { ...row, stream: settingsOf(row.organization) };
};
