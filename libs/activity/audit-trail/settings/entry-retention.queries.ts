import { sql, type Sql } from '#platform/kernel';
import { DEFAULT_RETENTION_DAYS } from './audit-trail-settings.js';
import { selectFirstOrdinal } from '../blocks/ordinals.queries.js';
import { ENTRIES_PER_BLOCK } from '../blocks/trail-blocks.js';

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
  select t.organization, ${selectFirstOrdinal('>=', selectKeptFrom(now))} - 1 as bound
    from audit_trails t
    left join audit_trail_settings s on s.organization = t.organization`;

/**
 * Deletes all expired entries at once, to compare copies of an audit trail. Deletes blocks with an expired entry too:
 * queries do not use them, and they lack the entries that were deleted before the block was complete.
 */
export const removeExpired = (now: Date): Sql => sql`
  with bounds as materialized (${selectExpiryBounds(now)}),
       blocks as (
         delete from audit_trail_blocks b using bounds
          where b.organization = bounds.organization and b.block::bigint * ${ENTRIES_PER_BLOCK} < bounds.bound)
  delete from audit_trail_entries e using bounds
   where e.organization = bounds.organization and e.ordinal < bounds.bound`;
