import { timestampOf, type AuditRow, type EventRegistry, type Recorded, type Timestamp } from '#kernel';
import { entryOf, type Entry, type OrganizationsEvent } from './entry.js';

/**
 * The trail of an organization:
 *
 *   closed ──gets the audit entitlement──► open ──loses it, or is deleted──► closed
 *
 * Readers resume at "later than the last I saw", so within a trail each timestamp is later than the one before, in log
 * order: the event's own time, or a millisecond after the last entry where that is not later. Never a whole second: some
 * write that without its fraction when they resume, which is the end of the second to us (clients.md §6). Entries are numbered, too,
 * without gaps. `last` and `length` are kept apart from the entries, so that what is pruned does not matter, and a replay
 * of the log gives the same timestamps and numbers.
 */
export type Trail = {
  readonly open: boolean;
  readonly last: Timestamp | null;
  /** How many entries it has had: the ordinal of the last one. */
  readonly length: number;
};

/** An entry and its number in its trail: 1, 2, 3 … */
export type Placed = { readonly ordinal: number; readonly entry: Entry };

/** What an event does to its organization's trail besides adding to it. */
export type Turn = 'open' | 'closed' | null;

export type Trails = {
  readonly entries: readonly Placed[];
  /** How the trails that the events touched stand afterwards. */
  readonly trails: ReadonlyMap<string, Trail>;
};

const UNOPENED: Trail = { open: false, last: null, length: 0 };

const later = (time: Timestamp): Timestamp => timestampOf(Date.parse(time) + 1);

const after = (last: Timestamp | null, time: Timestamp): Timestamp => {
  const next = last === null || time > last ? time : later(last);
  return next.endsWith('.000Z') ? later(next) : next;
};

/** Writes events into the trails they belong to. The same, however the events are cut into batches. */
export const continueTrails = (
  registry: EventRegistry,
  turnOf: (event: Recorded) => Turn,
  before: ReadonlyMap<string, Trail>,
  events: readonly Recorded[],
): Trails => {
  const entries: Placed[] = [];
  const trails = new Map<string, Trail>();
  for (const event of events.filter(belongs)) {
    const trail = trails.get(event.organization) ?? before.get(event.organization) ?? UNOPENED;
    const turn = turnOf(event);
    const row = rowOf(registry, event);
    // The turn itself is told: the first entry says that the trail begins, the last that it ends.
    const told = row && (trail.open || turn === 'open') ? entryOf(event, row, after(trail.last, event.time)) : null;
    if (told) entries.push({ ordinal: trail.length + 1, entry: told });
    if (told || turn) trails.set(event.organization, turned(trail, turn, told));
  }
  return { entries, trails };
};

const turned = (trail: Trail, turn: Turn, told: Entry | null): Trail => ({
  open: turn === null ? trail.open : turn === 'open',
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
