import { sql, type Sql } from '#kernel';
import { DEFAULT_RETENTION_DAYS } from '../settings/audit-trail-settings.js';

/** For how long entries are kept, null for ever: of settings `s` that may be missing. */
export const retentionDays = sql`case when s.organization is null then ${DEFAULT_RETENTION_DAYS} else s.retention_days end`;

/** The oldest moment that a trail still shows, whatever is pruned; `s` are its settings, or nulls. The log keeps everything. */
export const selectKeptFrom = (now: Date): Sql =>
  sql`greatest(s.kept_from, ${now.toISOString()}::timestamptz - 24 * (${retentionDays}) * interval '1 hour')`;

/**
 * The newest entry that is too old, of each trail. It is not shown, but stays: a reader whose cursor it is has missed
 * nothing, however long nothing happened.
 */
export const selectExpiryBounds = (now: Date): Sql => sql`
  select t.organization, b.ordinal as bound
    from audit_trails t
    left join audit_trail_settings s on s.organization = t.organization
    cross join lateral (
      select e.ordinal from audit_trail_entries e
       where e.organization = t.organization and e.timestamp < ${selectKeptFrom(now)}
       order by e.timestamp desc limit 1) b`;

/** All that is too old at once: for who compares copies of a trail. */
export const removeExpired = (now: Date): Sql => sql`
  delete from audit_trail_entries e using (${selectExpiryBounds(now)}) bound
   where e.organization = bound.organization and e.ordinal < bound.bound`;
