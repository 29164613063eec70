import { sql, type Sql } from '#platform/kernel';
import { ENTRIES_PER_TIMESTAMP } from './entry-indexes.queries.js';

const STEP = sql.raw(String(ENTRIES_PER_TIMESTAMP));

/**
 * Returns the ordinal of the first stored entry of the trail `t` that is later than a time, or not earlier; one past the
 * end if there is none. Timestamps increase with ordinals, so the first such entry in the index by timestamp has it
 * within the entries just before. The search does not begin at the oldest entry, because until the next vacuum it would
 * scan all deleted rows.
 */
export const selectFirstOrdinal = (comparison: '>' | '>=', time: Sql): Sql => {
  const compare = sql.raw(comparison);
  return sql`coalesce((
    select first.ordinal
      from (select coalesce((select indexed.ordinal from audit_trail_entries indexed
                              where indexed.organization = t.organization and indexed.ordinal % ${STEP} = 0
                                and indexed.timestamp ${compare} ${time}
                              order by indexed.timestamp limit 1),
                            (t.length / ${STEP} + 1) * ${STEP}) as ordinal offset 0) found
      cross join lateral (
        select e.ordinal from audit_trail_entries e
         where e.organization = t.organization and e.ordinal between found.ordinal - (${STEP} - 1) and found.ordinal
           and e.timestamp ${compare} ${time}
         order by e.ordinal limit 1) first), t.length + 1)`;
};
