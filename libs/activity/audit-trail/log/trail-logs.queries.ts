import { sql, type Sql } from '#platform/kernel';
import type { DatabaseSession } from '#platform/postgres';
import { selectIsEarlierView } from '#storage/event-store';
import { ENTRY_COLUMNS, type EntryRow } from '../writing/stored-entry.js';
import type { EntryLeaf } from './log-secret.service.js';

/** The purpose of the encryption of secrets of logs. */
export const LOG_SECRETS_PURPOSE = 'audit trail logs';

/** A run of leaves of one log, both ends included. */
export type LeafSpan = { readonly organization: string; readonly from: number; readonly to: number };

export type IndexedLeaf = EntryLeaf & { readonly organization: string; readonly index: number };

/** An event with whose entry a log can begin. */
export type LogStart = {
  readonly organization: string;
  readonly ordinal: number;
  readonly transaction: string;
  readonly position: number;
};

/** The number of leaves that a log `l` has had. */
export const LEAF_COUNT = sql.raw(`
  coalesce((select max(index) + 1 from audit_trail.leaves v where v.organization = l.organization), l.pruned)`);

/**
 * Returns those starts at which a log begins. Events that were imported from another site have no leaves, because the log
 * of the other site has them. While a process of an earlier version can write entries without leaves, no log begins.
 */
export const selectFirstStarts = (starts: readonly LogStart[], view: string, version: number): Sql => sql`
  select distinct on (start.organization) start.organization, start.ordinal
    from jsonb_to_recordset(${sql.json(starts)}::jsonb)
         as start (organization text, ordinal bigint, transaction text, position bigint)
   where not ${selectIsEarlierView(view, version)}
     and not exists (
       select from event_store.events v
        where v.stream = start.organization and v.type = 'OrganizationImported'
          and (v.transaction, v.position) > (start.transaction::xid8, start.position))
   order by start.organization, start.ordinal`;

export const insertLog = (organization: string, firstOrdinal: number, secret: Buffer): Sql => sql`
  insert into audit_trail.logs (organization, first_ordinal, secret)
  values (${organization}, ${firstOrdinal}, ${secret})`;

export const insertLeaves = (leaves: readonly IndexedLeaf[]): Sql => sql`
  insert into audit_trail.leaves (organization, index, id, leaf, commitments)
  select * from unnest(${leaves.map(({ organization }) => organization)}::text[],
                       ${leaves.map(({ index }) => index)}::bigint[], ${leaves.map(({ id }) => id)}::uuid[],
                       ${leaves.map(({ leaf }) => leaf)}::bytea[],
                       ${leaves.map(({ commitments }) => commitments)}::bytea[])`;

export const selectLeaves = (ranges: readonly LeafSpan[]): Sql => sql`
  select leaves.organization, index, id, leaf, commitments
    from jsonb_to_recordset(${sql.json(ranges)}::jsonb) as range (organization text, "from" bigint, "to" bigint)
    join audit_trail.leaves on leaves.organization = range.organization and index between range.from and range.to`;

/** Returns the stored entries of these ordinals, oldest first. */
export const listEntryRows = (
  session: Pick<DatabaseSession, 'run'>,
  organization: string,
  from: number,
  to: number,
): Promise<EntryRow[]> =>
  session.run<EntryRow>(sql`
    select ${ENTRY_COLUMNS} from audit_trail_entries e
     where organization = ${organization} and ordinal between ${from} and ${to} order by ordinal`);

/** Selects the first leaf after the last entry of its trail, in the tables that the search path finds. */
export const SELECT_SURPLUS_LEAF = sql`
  select v.organization, v.index, v.id
    from audit_trail.logs l
    left join audit_trails t using (organization)
    join audit_trail.leaves v on v.organization = l.organization
                             and v.index = coalesce(t.length, 0) - l.first_ordinal + 1
   order by v.organization limit 1`;

/**
 * Selects the logs with leaves whose entries were pruned: `first` is the index of the first leaf, `end` that of the first
 * entry that is stored. The newest expired entry is always stored.
 */
export const selectLeafBounds = (): Sql => sql`
  select l.organization, l.pruned as first, stored.ordinal - l.first_ordinal as "end"
    from audit_trail.logs l
    cross join lateral (
      select ordinal from audit_trail_entries e where e.organization = l.organization
       order by ordinal limit 1) stored
   where stored.ordinal - l.first_ordinal > l.pruned`;

/** Deletes the first leaves of a log: from the first one, up to `end`. */
export const deleteLeaves = (organization: string, first: number, end: number): readonly Sql[] => [
  sql`update audit_trail.logs set pruned = ${end} where organization = ${organization} and pruned = ${first}`,
  sql`delete from audit_trail.leaves where organization = ${organization} and index >= ${first} and index < ${end}`,
];

export const selectPruned = (organization: string): Sql => sql`
  select pruned from audit_trail.logs where organization = ${organization}`;

/**
 * Deletes what a restore leaves out: leaves of events that are not in the log, and logs without leaves. Such a log begins
 * again. Either its first event is not in the log, or the restored position lies before the leaves that were pruned. A
 * complete log has at least the leaf of the newest expired entry, which is never pruned.
 */
export const TRIM_LEAVES = sql`
  delete from audit_trail.leaves l where not exists (select from event_store.events e where e.id = l.id)`;
export const TRIM_LOGS = sql`
  delete from audit_trail.logs l
   where not exists (select from audit_trail.leaves v where v.organization = l.organization)`;
