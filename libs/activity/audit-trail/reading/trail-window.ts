import type { Timestamp } from '#platform/kernel';

/**
 * State of an audit trail and the bounds of a query, as ordinals. Each ordinal takes two index lookups. The entries are
 * read afterwards, as ranges of ordinals.
 */
export type TrailWindow = {
  /** Timestamp and ordinal of the newest entry; the epoch and 0 if there is no entry. */
  readonly last: Timestamp;
  readonly length: number;
  /**
   * The first ordinal that retention still shows, and the first of these later than `since`. One past the end if there
   * is none.
   */
  readonly retained: number;
  readonly first: number;
  /**
   * The last ordinal not later than `until`, and the last not later than the pinned upper bound; less than the first
   * ordinal if there is none.
   */
  readonly until: number;
  readonly pinned: number;
  /** Ordinal of the cursor; null if there is no cursor or no such entry. */
  readonly cursor: number | null;
  /** Whether the id of the cursor is an audited event of this organization. */
  readonly happened: boolean;
  /** Whether all complete blocks are stored: false until the first rebuild after an upgrade. */
  readonly hasBlocks: boolean;
  /** Ids of the actors in the filter, who are named by id or by name. */
  readonly accessors: readonly string[];
};
