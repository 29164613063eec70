import { sql, type Sql, type Timestamp } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import { requireCurrentAccess, type Actor } from '#api/access';
import { selectKeptFrom } from '../settings/entry-retention.queries.js';
import { selectFirstOrdinal } from '../blocks/ordinals.queries.js';
import { ENTRY_COLUMNS, type EntryRow } from '../writing/stored-entry.js';

/** The entries of one request are appended together or shortly after each other, so they are near in the trail. */
const NEIGHBOURS = 200;

/** An entry with the event that it records. */
export type EntryWithEvent = EntryRow & {
  readonly eventType: string;
  readonly schemaVersion: number;
  readonly stream: string;
  readonly version: number;
  readonly transaction: string;
  readonly position: number;
  readonly time: Timestamp;
  readonly correlation: string;
  readonly causation: string | null;
};

const EVENT_COLUMNS = sql.raw(`
  v.type as "eventType", v.schema_version as "schemaVersion", v.stream, v.version, v.transaction::text as transaction,
  v.position, v.time`);

/** The id that all events of one request share, without reading the shared context of the event `v`. */
const CORRELATION = sql.raw(`coalesce(v.request::text, v.context ->> 'correlation')`);

const selectEntries = (where: Sql): Sql => sql`
  select ${ENTRY_COLUMNS}, ${EVENT_COLUMNS}, ${CORRELATION} as correlation, v.context ->> 'causation' as causation
    from audit_trail_entries e
    join event_store.events v on v.id = e.id
   where ${where}
   order by e.ordinal`;

type EntryKey = { readonly organization: string; readonly id: string; readonly now: Date };

/** Returns an entry that retention still shows; undefined if there is none, or the organization has no audit trail. */
export const findEntry = (
  database: Database,
  actor: Actor,
  { organization, id, now }: EntryKey,
): Promise<(EntryWithEvent & { readonly retained: number }) | undefined> =>
  database.row<EntryWithEvent & { readonly retained: number }>(sql`
    with kept as (
      select ${selectFirstOrdinal('>=', selectKeptFrom(now))} as retained
        from audit_trails t
        left join audit_trail_settings s on s.organization = t.organization
       where t.organization = ${organization} and t.open and ${requireCurrentAccess(actor)})
    select found.*, kept.retained
      from kept
      join (${selectEntries(sql`e.id = ${id}::uuid and e.organization = ${organization}`)}) found
        on found.ordinal >= kept.retained`);

/** Returns the other entries of the same request, and entries of events that these caused, oldest first. */
export const listRelatedEntries = (
  database: Database,
  { organization, ordinal, id, correlation, retained }: EntryWithEvent & { readonly retained: number },
): Promise<EntryWithEvent[]> =>
  database.rows<EntryWithEvent>(
    selectEntries(sql`
      e.organization = ${organization} and e.id <> ${id}::uuid
      and e.ordinal between ${Math.max(retained, ordinal - NEIGHBOURS)} and ${ordinal + NEIGHBOURS}
      and ${CORRELATION} = ${correlation}`),
  );
