import { sql } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import { selectFirstOrdinal } from '../blocks/ordinals.queries.js';
import { selectKeptFrom } from '../settings/entry-retention.queries.js';
import { ENTRY_COLUMNS, toTrailEntry, type EntryRow } from '../writing/stored-entry.js';
import type { NumberedEntry } from '../writing/trail.js';

/**
 * Returns the entry with this id, or with this index in the log of the trail, as it is stored. Returns null if there is none, or if its retention
 * has ended.
 */
export const findRetainedEntry = async (
  database: Database,
  organization: string,
  key: { readonly id: string } | { readonly index: number },
  now: Date,
): Promise<NumberedEntry | null> => {
  const isEntry =
    'id' in key
      ? sql`e.id = ${key.id}::uuid`
      : sql`e.ordinal = (select first_ordinal from audit_trail.logs where organization = ${organization}) + ${key.index}`;
  const row = await database.row<EntryRow>(sql`
    with kept as (
      select ${selectFirstOrdinal('>=', selectKeptFrom(now))} as retained
        from audit_trails t
        left join audit_trail_settings s on s.organization = t.organization
       where t.organization = ${organization} and t.open)
    select ${ENTRY_COLUMNS}
      from kept join audit_trail_entries e on e.organization = ${organization} and e.ordinal >= kept.retained
     where ${isEntry}`);
  return row ? { ordinal: row.ordinal, entry: toTrailEntry(row) } : null;
};
