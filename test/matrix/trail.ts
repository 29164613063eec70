import { sql, type LogPosition, type Recorded } from '#kernel';
import type { EventStore } from '#event-store';
import { registry } from '../../apps/slices.js';

/** An entry of a trail as readers filter for it: its resource's type and its action. */
export type TrailEntry = `${string} ${string}`;

const START: LogPosition = { transaction: '0', position: 0 };

/** Where the log ends. */
export const logEnd = async ({ database }: EventStore): Promise<LogPosition> =>
  (await database.row<LogPosition>(
    sql`select transaction::text, position from event_store.events e order by e.transaction desc, e.position desc limit 1`,
  )) ?? START;

/** What a request has left behind: events, and what the trail of the organization tells of them, each entry once. */
export type Traces = { readonly events: number; readonly entries: readonly string[] };

/** Of the request since then; nobody else asks meanwhile, and what followers do has another event as its cause. */
export const tracesSince = async (
  { database }: EventStore,
  { transaction, position }: LogPosition,
): Promise<Traces> => {
  const events = await database.rows<Recorded>(sql`
    select type, data, organization from event_store.events e
     where (e.transaction, e.position) > (${transaction}::xid8, ${position}::bigint)
       and context ->> 'causation' is null
     order by e.transaction, e.position`);
  return { events: events.length, entries: [...new Set(events.flatMap(told))] };
};

const told = ({ type, data, organization }: Recorded): string[] => {
  const audit = registry[type]?.audit;
  if (!audit) throw new Error(`no slice knows an event named ${type}`);
  if ('unaudited' in audit || organization === null) return [];
  const action = typeof audit.action === 'string' ? audit.action : audit.action(data as never);
  return [`${audit.resource} ${action}`];
};
