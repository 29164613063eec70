import { sql, type Sql } from '#platform/kernel';
import { IS_SETTLED } from '#storage/event-store';

/** Where a replay begins: at a position of the log, or at a time. */
export type ReplayStart = { readonly position: number } | { readonly time: Date };

/** The first event, in the order of the log, at this position or time or later. */
export const selectReplayStart = (start: ReplayStart): Sql => sql`
  select transaction::text as transaction, position from event_store.events
   where ${'position' in start ? sql`position >= ${start.position}` : sql`time >= ${start.time.toISOString()}`}
     and ${IS_SETTLED}
   order by event_store.events.transaction, position limit 1`;

/** The last event, in the order of the log, up to this position; of all settled events if it is null. */
export const selectReplayEnd = (toPosition: number | null): Sql => sql`
  select transaction::text as transaction, position from event_store.events
   where (${toPosition}::bigint is null or position <= ${toPosition}) and ${IS_SETTLED}
   order by event_store.events.transaction desc, position desc limit 1`;

/** The highest position of the log; null without an event. */
export const selectLastPosition = (): Sql => sql`select max(position) as position from event_store.events`;

export type LastPositionRow = { readonly position: number | null };
