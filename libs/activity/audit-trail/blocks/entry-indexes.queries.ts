import type { TableIndexes } from '#storage/event-store';

/** Each of these entries is in the index by timestamp; the others are found beside it. */
export const ENTRIES_PER_TIMESTAMP = 4;
/**
 * The index by resource is divided into parts of this many entries of an organization, so that new entries change few
 * of its pages. Postgres writes each page to its log in full when it first changes after a checkpoint.
 */
export const RESOURCE_PART_BITS = 13;

const ON = 'ON views.audit_trail_entries USING btree';
const NOT_UNIQUE = { isPrimary: false, isUnique: false, constraint: null } as const;

/** The indexes of entries since version 2 of the view, as 004_compact_entries.sql creates them in a new database. */
export const ENTRY_INDEXES: TableIndexes = {
  current: [
    {
      name: 'audit_trail_entries_pkey',
      definition: `CREATE UNIQUE INDEX audit_trail_entries_pkey ${ON} (organization, ordinal)`,
      isPrimary: true,
      isUnique: true,
      constraint: 'PRIMARY KEY (organization, ordinal)',
    },
    {
      ...NOT_UNIQUE,
      name: 'audit_trail_entries_by_timestamp',
      definition:
        `CREATE INDEX audit_trail_entries_by_timestamp ${ON} (organization, "timestamp") ` +
        `INCLUDE (ordinal) WHERE ((ordinal % (${ENTRIES_PER_TIMESTAMP})::bigint) = 0)`,
    },
    {
      ...NOT_UNIQUE,
      name: 'audit_trail_entries_by_resource',
      definition:
        `CREATE INDEX audit_trail_entries_by_resource ${ON} ` +
        `(organization, ((ordinal >> ${RESOURCE_PART_BITS})), resource_id, ordinal)`,
    },
  ],
  retired: [
    'audit_trail_entries_by_ordinal',
    'audit_trail_entries_by_resource_type',
    'audit_trail_entries_by_action',
    'audit_trail_entries_by_accessor',
    'audit_trail_entries_by_resource_id',
  ],
};
