import { sql, type LogPosition, type Sql, type Timestamp } from '#platform/kernel';
import { IS_SETTLED } from '#storage/event-store';
import type { DatabaseRow } from '#platform/postgres';
import type { EventFields } from '../messages/change.js';
import type { SentEvents } from '../messages/sent-events.js';

export type ChangeRow = LogPosition & {
  readonly id: string;
  readonly stream: string;
  readonly type: string;
  readonly organization: string | null;
  readonly time: Timestamp;
  /** The number of the event among the events that the statement has searched. */
  readonly number: number;
  /** False for the last searched event if it is not to be sent. It shows the position that was reached. */
  readonly isSent: boolean;
  readonly data: EventFields | null;
  readonly first: EventFields | null;
  readonly owner: EventFields | null;
} & DatabaseRow;

/** Selects the fields of an event that a message needs. `event` is the alias of its row. */
const pickFields = (event: string, { fieldsByType }: SentEvents): Sql => sql`
  (select jsonb_object_agg(name, ${sql.raw(event)}.data -> name)
     from jsonb_array_elements_text(${sql.json(fieldsByType)}::jsonb -> ${sql.raw(event)}.type) name)`;

export type ChangeRange = {
  readonly after: LogPosition;
  /** The last position of the range; null for the end of the settled log. */
  readonly upTo: LogPosition | null;
  /** Events are selected if they belong to one of these organizations. */
  readonly organizations: readonly string[];
  /** Most events of all organizations that the statement searches. */
  readonly limit: number;
};

const isInRange = ({ after, upTo }: Pick<ChangeRange, 'after' | 'upTo'>): Sql => sql`
  (transaction, position) > (${after.transaction}::xid8, ${after.position}::bigint) and ${IS_SETTLED}
  and ${upTo === null ? sql`true` : sql`(transaction, position) <= (${upTo.transaction}::xid8, ${upTo.position}::bigint)`}`;

/**
 * Selects the next events that can become messages, and the last searched event, in the order of the log. Orders by
 * `e.transaction`, because `transaction` alone would be the selected text.
 */
export const selectChanges = (range: ChangeRange, sent: SentEvents): Sql => sql`
  select e.transaction::text as transaction, e.position, e.id, e.stream, e.type, e.organization, e.time, e.number,
         e.sent as "isSent", ${pickFields('e', sent)} as data, earlier.first, earlier.owner
    from (select *, row_number() over (order by e.transaction, e.position) as number,
                 lead(position) over (order by e.transaction, e.position) is null as is_last,
                 coalesce(organization = any (${range.organizations}::text[]) and type = any (${sent.types}::text[]), false) as sent
            from (select transaction, position, id, stream, type, organization, time, data from event_store.events e
                   where ${isInRange(range)}
                   order by e.transaction, e.position limit ${range.limit}) e) e
    left join lateral (
      select first.fields as first, case when owned.owner ->> 'type' = 'varsets' then (
               select ${pickFields('o', sent)} from event_store.events o
                where o.stream = owned.owner ->> 'id' and o.version = 1) end as owner
        from (select (select ${pickFields('f', sent)} from event_store.events f
                       where e.type = any (${sent.typesWithFirst}::text[]) and f.stream = e.stream and f.version = 1) as fields) first
       cross join lateral (select case when e.type = any (${sent.typesWithOwner}::text[])
                                        then coalesce(e.data -> 'owner', first.fields -> 'owner') end as owner) owned
       where e.sent) earlier on true
   where e.sent or e.is_last
   order by e.transaction, e.position`;

export type CursorRow = LogPosition & { readonly id: string };

/** Selects the last settled event; none if no event is settled. */
export const selectHead = (): Sql => sql`
  select e.transaction::text as transaction, e.position, e.id from event_store.events e
   where ${IS_SETTLED} order by e.transaction desc, e.position desc limit 1`;

export const selectEventPosition = (id: string): Sql => sql`
  select e.transaction::text as transaction, e.position, e.id from event_store.events e where e.id = ${id}::uuid`;

/**
 * Selects the position directly before the first settled event since a time. Ids of events begin with their time (UUIDv7),
 * and an event can be before one with a smaller id in the order of the log. Reads at most `limit` events.
 */
export const selectPositionBefore = (time: number, limit: number): Sql => sql`
  select e.transaction::text as transaction, e.position - 1 as position, e.id
    from (select transaction, position, id from event_store.events where id >= ${toFirstId(time)}::uuid order by id limit ${limit}) e
   where ${IS_SETTLED} order by e.transaction, e.position limit 1`;

/** Returns the smallest UUIDv7 of a time in milliseconds. */
const toFirstId = (time: number): string => {
  const digits = Math.max(time, 0).toString(16).padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}-7000-8000-000000000000`;
};

export type ChangeCount = { readonly searched: number; readonly sent: number };

/** Counts the events of a range, up to its limit, and those among them that can become messages. */
export const selectChangeCount = (range: ChangeRange, sent: SentEvents): Sql => sql`
  select count(*) as searched,
         count(*) filter (where e.organization = any (${range.organizations}::text[]) and e.type = any (${sent.types}::text[])) as sent
    from (select organization, type from event_store.events e where ${isInRange(range)}
           order by e.transaction, e.position limit ${range.limit}) e`;

export type DeletedTeamRow = {
  readonly team: string;
  readonly visibility: string;
  readonly members: readonly string[];
};

/**
 * Selects teams as they were before their deletion, from the events of their streams: the visibility, and the users that
 * were added last and not removed.
 */
export const selectDeletedTeams = (teams: readonly string[]): Sql => sql`
  select t.id as team,
         (select coalesce(e.data ->> 'visibility', e.data -> 'changes' ->> 'visibility') from event_store.events e
           where e.stream = t.id and e.type in ('TeamCreated', 'TeamUpdated')
             and coalesce(e.data ->> 'visibility', e.data -> 'changes' ->> 'visibility') is not null
           order by e.version desc limit 1) as visibility,
         array(select m.member from (
                 select distinct on (e.data ->> 'user') e.data ->> 'user' as member, e.type from event_store.events e
                  where e.stream = t.id and e.type in ('TeamMemberAdded', 'TeamMemberRemoved')
                  order by e.data ->> 'user', e.version desc) m
                where m.type = 'TeamMemberAdded') as members
    from unnest(${teams}::text[]) as t (id)`;
