import { sql, type Sql } from '#kernel';
import { DEFAULT_RETENTION_DAYS } from '../settings/audit-trail-settings.js';

/** Days for which entries are kept, null for ever. `s` are the settings, or nulls. */
export const retentionDays = sql`case when s.organization is null then ${DEFAULT_RETENTION_DAYS} else s.retention_days end`;

/**
 * Returns the oldest time that an audit trail still shows, even before entries are pruned. `s` are its settings, or
 * nulls. The log keeps everything.
 */
export const selectKeptFrom = (now: Date): Sql =>
  sql`greatest(s.kept_from, ${now.toISOString()}::timestamptz - 24 * (${retentionDays}) * interval '1 hour')`;

/**
 * Selects the newest expired entry of each audit trail. It is hidden but not deleted, so that a reader with this cursor
 * can verify that it missed nothing.
 */
export const selectExpiryBounds = (now: Date): Sql => sql`
  select t.organization, b.ordinal as bound
    from audit_trails t
    left join audit_trail_settings s on s.organization = t.organization
    cross join lateral (
      select e.ordinal from audit_trail_entries e
       where e.organization = t.organization and e.timestamp < ${selectKeptFrom(now)}
       order by e.timestamp desc limit 1) b`;

/** Deletes all expired entries at once, to compare copies of an audit trail. */
export const removeExpired = (now: Date): Sql => sql`
  delete from audit_trail_entries e using (${selectExpiryBounds(now)}) bound
   where e.organization = bound.organization and e.ordinal < bound.bound`;
