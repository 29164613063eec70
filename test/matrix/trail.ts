import { sql, describeAuditEvent, type LogPosition, type RecordedEvent } from '#kernel';
import type { EventStore } from '#event-store';
import { eventRegistry } from '../../apps/modules.js';

/** An entry of a trail as readers filter for it: its resource's type and its action. */
export type MatrixTrailEntry = `${string} ${string}`;

const START: LogPosition = { transaction: '0', position: 0 };

/** Where the log ends. */
export const logEnd = async ({ database }: EventStore): Promise<LogPosition> =>
  (await database.row<LogPosition>(
    sql`select transaction::text, position from event_store.events e order by e.transaction desc, e.position desc limit 1`,
  )) ?? START;

/** What a request has left behind: events, and what the trail of the organization tells of them, each entry once. */
export type RecordedTraces = { readonly events: number; readonly entries: readonly string[] };

/** Of the request since then; nobody else asks meanwhile, and what followers do has another event as its cause. */
export const tracesSince = async (
  { database }: EventStore,
  { transaction, position }: LogPosition,
): Promise<RecordedTraces> => {
  const events = await database.rows<RecordedEvent>(sql`
    select type, data, organization from event_store.events e
     where (e.transaction, e.position) > (${transaction}::xid8, ${position}::bigint)
       and context ->> 'causation' is null
     order by e.transaction, e.position`);
  return { events: events.length, entries: [...new Set(events.flatMap(told))] };
};

/** The same of one request among others, by its id. */
export const tracesOf = async (
  { database }: EventStore,
  { transaction, position }: LogPosition,
  request: string,
): Promise<RecordedTraces> => {
  const events = await database.rows<RecordedEvent>(sql`
    select type, data, organization from event_store.events e
     where (e.transaction, e.position) > (${transaction}::xid8, ${position}::bigint)
       and context -> 'request' ->> 'id' = ${request}
     order by e.transaction, e.position`);
  return { events: events.length, entries: [...new Set(events.flatMap(told))] };
};

/** Resources of which the catalogue has reads (contract §6.1), by their JSON:API type. */
const READ: Readonly<Record<string, string>> = {
  'authentication-tokens': 'authentication_token',
  'configuration-versions': 'configuration_version',
  'ssh-keys': 'ssh_key',
  'state-version-outputs': 'state_version',
  'state-versions': 'state_version',
  vars: 'var',
};

/** It has `show` of these, and no `index`. */
const WITHOUT_INDEX: ReadonlySet<string> = new Set(['authentication-tokens', 'configuration-versions']);

type ExpectedEntry = { readonly type: string };
type Showing = {
  readonly data?: ExpectedEntry | readonly ExpectedEntry[] | null;
  readonly included?: readonly ExpectedEntry[];
} | null;

/** What a document shows of which a trail must tell, by the names of the catalogue. */
export const shownIn = (body: Showing): string[] => {
  const isList = Array.isArray(body?.data);
  const types = [
    ...[body?.data ?? []].flat().flatMap(({ type }) => (isList && WITHOUT_INDEX.has(type) ? [] : [type])),
    ...(body?.included ?? []).map(({ type }) => type),
  ];
  return [...new Set(types.flatMap((type) => READ[type] ?? []))];
};

const told = ({ type, data, organization }: RecordedEvent): string[] => {
  const audit = eventRegistry[type]?.audit;
  if (!audit) throw new Error(`no slice knows an event named ${type}`);
  if ('unaudited' in audit || organization === null) return [];
  const { type: resource, action } = describeAuditEvent(audit, data as never);
  return [`${resource} ${action}`];
};
