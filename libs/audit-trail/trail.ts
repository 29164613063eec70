import { timestampOf, type AuditRow, type EventRegistry, type Recorded, type Timestamp } from '#kernel';
import { entryOf, type Entry, type OrganizationsEvent } from './entry.js';

/**
 * The trail of an organization:
 *
 *   closed ──gets the audit entitlement──► open ──loses it, or is deleted──► closed
 *
 * While a trail is open, owners can stop and resume the recording of entries. Changes of the trail's own settings are
 * recorded even while it is stopped, so a gap has its two ends in the trail. Entries from before the gap stay readable.
 *
 * Readers resume at "later than the last I saw", so within a trail each timestamp is later than the one before, in log
 * order: the event's own time, or a millisecond after the last entry where that is not later. Never a whole second: some
 * write that without its fraction when they resume, which is the end of the second to us (clients.md §6). Entries are numbered, too,
 * without gaps. `last` and `length` are kept apart from the entries, so that what is pruned does not matter, and a replay
 * of the log gives the same timestamps and numbers.
 */
export type Trail = {
  /** Whether the organization has the audit entitlement; then its trail can be read. */
  readonly open: boolean;
  /** Whether the owners want entries to be recorded. */
  readonly enabled: boolean;
  readonly last: Timestamp | null;
  /** How many entries it has had: the ordinal of the last one. */
  readonly length: number;
};

/** An entry and its number in its trail: 1, 2, 3 … */
export type Placed = { readonly ordinal: number; readonly entry: Entry };

/**
 * What an event does to its organization's trail besides adding to it.
 *
 *   begin     the organization is created with the entitlement, or got it before version 2 of the change; the event is the
 *             first entry
 *   open      the organization gets the entitlement; the trail begins after this event (clients.md §8)
 *   close     the organization loses the entitlement, or is deleted; this is the last entry
 *   enable, disable, configure
 *             owners change the trail's settings, which is recorded whether or not the trail is enabled
 */
export type Turn = 'begin' | 'open' | 'close' | 'enable' | 'disable' | 'configure';

export type Trails = {
  readonly entries: readonly Placed[];
  /** How the trails that the events touched stand afterwards. */
  readonly trails: ReadonlyMap<string, Trail>;
};

const UNOPENED: Trail = { open: false, enabled: true, last: null, length: 0 };

const later = (time: Timestamp): Timestamp => timestampOf(Date.parse(time) + 1);

const after = (last: Timestamp | null, time: Timestamp): Timestamp => {
  const next = last === null || time > last ? time : later(last);
  return next.endsWith('.000Z') ? later(next) : next;
};

/** Writes events into the trails they belong to. The same, however the events are cut into batches. */
export const continueTrails = (
  registry: EventRegistry,
  turnOf: (event: Recorded) => Turn | null,
  before: ReadonlyMap<string, Trail>,
  events: readonly Recorded[],
): Trails => {
  const entries: Placed[] = [];
  const trails = new Map<string, Trail>();
  for (const event of events.filter(belongs)) {
    const trail = trails.get(event.organization) ?? before.get(event.organization) ?? UNOPENED;
    const turn = turnOf(event);
    const row = rowOf(registry, event);
    const told = row && records(trail, turn) ? entryOf(event, row, after(trail.last, event.time)) : null;
    if (told) entries.push({ ordinal: trail.length + 1, entry: told });
    if (told || turn) trails.set(event.organization, turned(trail, turn, told));
  }
  return { entries, trails };
};

/** Whether the trail has an entry of an event, by how the trail was before the event. */
const records = ({ open, enabled }: Trail, turn: Turn | null): boolean => {
  if (turn === 'begin') return true;
  const isOfSettings = turn === 'enable' || turn === 'disable' || turn === 'configure';
  return open && (enabled || isOfSettings);
};

const OPEN: Readonly<Partial<Record<Turn, boolean>>> = { begin: true, open: true, close: false };
const ENABLED: Readonly<Partial<Record<Turn, boolean>>> = { enable: true, disable: false };

const turned = (trail: Trail, turn: Turn | null, told: Entry | null): Trail => ({
  open: (turn && OPEN[turn]) ?? trail.open,
  enabled: (turn && ENABLED[turn]) ?? trail.enabled,
  last: told?.timestamp ?? trail.last,
  length: trail.length + (told ? 1 : 0),
});

/** Types of events that no trail tells of. */
export const untoldIn = (registry: EventRegistry): readonly string[] =>
  Object.entries(registry).flatMap(([type, { audit }]) => ('unaudited' in audit ? [type] : []));

const belongs = (event: Recorded): event is OrganizationsEvent => event.organization !== null;

const rowOf = (registry: EventRegistry, event: Recorded): AuditRow<never> | null => {
  const kind = registry[event.type];
  if (!kind) throw new Error(`no slice knows an event named ${event.type}`);
  return 'unaudited' in kind.audit ? null : kind.audit;
};
