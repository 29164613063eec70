import { sql, type Sql } from '#platform/kernel';

/**
 * Blocks of consecutive entries of an audit trail. For each type, action and actor in a block, one row contains a bit
 * for each entry, so that filters combine and count entries without reading them. The follower writes the rows of a
 * block once, with the last entry of the block. Blocks depend only on ordinals, so a replay of the log gives the same
 * rows.
 */
export const ENTRIES_PER_BLOCK = 1024;

/** Returns the number of complete blocks of a trail with this number of entries. The next block has this number. */
export const countCompleteBlocks = (length: number): number => Math.floor(length / ENTRIES_PER_BLOCK);

/** Returns the block of an entry. */
export const getBlockOf = (ordinal: number): number => Math.floor((ordinal - 1) / ENTRIES_PER_BLOCK);

/** Returns the first and the last ordinal of a block. */
export const getBlockRange = (block: number): { readonly from: number; readonly to: number } => ({
  from: block * ENTRIES_PER_BLOCK + 1,
  to: (block + 1) * ENTRIES_PER_BLOCK,
});

/** A block without matches. */
export const NO_MATCHES = sql.raw(`B'0'::bit(${ENTRIES_PER_BLOCK})`);

/** Returns the statement that writes the rows of a block whose entries are stored. */
export const insertBlock = (organization: string, block: number): Sql => {
  const { from, to } = getBlockRange(block);
  return sql`
    insert into audit_trail_blocks (organization, kind, value, block, matches)
    select ${organization}, filter.kind, filter.value, ${block}::integer,
           bit_or(set_bit(${NO_MATCHES}, (e.ordinal - ${from}::bigint)::integer, 1))
      from audit_trail_entries e,
           lateral (values ('type', e.resource_type), ('action', e.action), ('actor', e.accessor)) as filter (kind, value)
     where e.organization = ${organization} and e.ordinal between ${from} and ${to}
     group by filter.kind, filter.value`;
};
