import { sql, describeAuditEvent, findAuditMapping, type LogPosition, type RecordedEvent } from '#platform/kernel';
import { EVENT_CONTEXT, type EventStore } from '#storage/event-store';
import { eventRegistry } from '../../apps/modules.js';

/** Type of the resource and action of an entry, as filters of the trail name them. */
export type MatrixTrailEntry = `${string} ${string}`;

const START: LogPosition = { transaction: '0', position: 0 };

/** Returns the position of the last event. */
export const logEnd = async ({ database }: EventStore): Promise<LogPosition> =>
  (await database.row<LogPosition>(
    sql`select transaction::text, position from event_store.events e order by e.transaction desc, e.position desc limit 1`,
  )) ?? START;

/** The types of the events of a request, and their entries in trails, each once. */
export type RecordedTraces = { readonly events: readonly string[]; readonly entries: readonly string[] };

/**
 * Returns the traces of the only request since the position. Events of followers have another event as cause and are
 * left out.
 */
export const tracesSince = async (
  { database }: EventStore,
  { transaction, position }: LogPosition,
): Promise<RecordedTraces> => {
  const events = await database.rows<RecordedEvent>(sql`
    select type, data, organization, ${EVENT_CONTEXT} as context from event_store.events e
     where (e.transaction, e.position) > (${transaction}::xid8, ${position}::bigint)
       and context ->> 'causation' is null
     order by e.transaction, e.position`);
  return toTraces(events);
};

/** Returns the traces of one request among others, by its id. */
export const tracesOf = async (
  { database }: EventStore,
  { transaction, position }: LogPosition,
  request: string,
): Promise<RecordedTraces> => {
  const events = await database.rows<RecordedEvent>(sql`
    select type, data, organization, ${EVENT_CONTEXT} as context from event_store.events e
     where (e.transaction, e.position) > (${transaction}::xid8, ${position}::bigint)
       and context -> 'request' ->> 'id' = ${request}
     order by e.transaction, e.position`);
  return toTraces(events);
};

const toTraces = (events: readonly RecordedEvent[]): RecordedTraces => ({
  events: [...new Set(events.map(({ type }) => type))],
  entries: [...new Set(events.flatMap(entriesOf))],
});

/** Types of the audit catalogue for resources whose reads are recorded, by JSON:API type. */
const READ: Readonly<Record<string, string>> = {
  'authentication-tokens': 'authentication_token',
  'configuration-versions': 'configuration_version',
  'oauth-tokens': 'oauth_token',
  'ssh-keys': 'ssh_key',
  'state-version-outputs': 'state_version',
  'state-versions': 'state_version',
  vars: 'var',
};

/** Types whose catalogue has `show` but no `index`. */
const WITHOUT_INDEX: ReadonlySet<string> = new Set(['authentication-tokens', 'configuration-versions']);

type ExpectedEntry = { readonly type: string };
type Showing = {
  readonly data?: ExpectedEntry | readonly ExpectedEntry[] | null;
  readonly included?: readonly ExpectedEntry[];
} | null;

/** Returns the types of the audit catalogue in a document whose read must be recorded. */
export const shownIn = (body: Showing): string[] => {
  const isList = Array.isArray(body?.data);
  const types = [
    ...[body?.data ?? []].flat().flatMap(({ type }) => (isList && WITHOUT_INDEX.has(type) ? [] : [type])),
    ...(body?.included ?? []).map(({ type }) => type),
  ];
  return [...new Set(types.flatMap((type) => READ[type] ?? []))];
};

/** Returns the entries of an event in the trails of organizations and of the site. */
const entriesOf = (event: RecordedEvent): string[] => {
  const { type, data, organization } = event;
  const kind = eventRegistry[type];
  if (!kind) throw new Error(`no module defines the event ${type}`);
  const audit = findAuditMapping(kind, event);
  if (!audit) return [];
  if (organization === null && !audit.site) {
    throw new Error(`the audit trail of the site must record ${type}, or its definition must say why no trail does`);
  }
  const { type: resource, action } = describeAuditEvent(audit, data as never);
  return [`${resource} ${action}`];
};
