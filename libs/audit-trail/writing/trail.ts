import { formatTimestamp, type AuditMapping, type EventRegistry, type RecordedEvent, type Timestamp } from '#kernel';
import { createEntry, type TrailEntry, type OrganizationScopedEvent } from './trail-entry.js';

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
export type TrailState = {
  /** Whether the organization has the audit entitlement; then its trail can be read. */
  readonly open: boolean;
  /** Whether the owners want entries to be recorded. */
  readonly enabled: boolean;
  readonly last: Timestamp | null;
  /** How many entries it has had: the ordinal of the last one. */
  readonly length: number;
};

/** An entry and its number in its trail: 1, 2, 3 … */
export type NumberedEntry = { readonly ordinal: number; readonly entry: TrailEntry };

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
export type TrailTransition = 'begin' | 'open' | 'close' | 'enable' | 'disable' | 'configure';

export type TrailUpdate = {
  readonly entries: readonly NumberedEntry[];
  /** How the trails that the events touched stand afterwards. */
  readonly trails: ReadonlyMap<string, TrailState>;
};

const NEW_TRAIL: TrailState = { open: false, enabled: true, last: null, length: 0 };

const addMillisecond = (time: Timestamp): Timestamp => formatTimestamp(Date.parse(time) + 1);

const computeNextTimestamp = (last: Timestamp | null, time: Timestamp): Timestamp => {
  const next = last === null || time > last ? time : addMillisecond(last);
  return next.endsWith('.000Z') ? addMillisecond(next) : next;
};

/** Writes events into the trails they belong to. The same, however the events are cut into batches. */
export const computeTrailUpdate = (
  registry: EventRegistry,
  turnOf: (event: RecordedEvent) => TrailTransition | null,
  before: ReadonlyMap<string, TrailState>,
  events: readonly RecordedEvent[],
): TrailUpdate => {
  const entries: NumberedEntry[] = [];
  const trails = new Map<string, TrailState>();
  for (const event of events.filter(isOrganizationScoped)) {
    const trail = trails.get(event.organization) ?? before.get(event.organization) ?? NEW_TRAIL;
    const turn = turnOf(event);
    const row = getAuditMapping(registry, event);
    const told =
      row && isEntryRecorded(trail, turn)
        ? createEntry(event, row, computeNextTimestamp(trail.last, event.time))
        : null;
    if (told) entries.push({ ordinal: trail.length + 1, entry: told });
    if (told || turn) trails.set(event.organization, applyTransition(trail, turn, told));
  }
  return { entries, trails };
};

/** Whether the trail has an entry of an event, by how the trail was before the event. */
const isEntryRecorded = ({ open, enabled }: TrailState, turn: TrailTransition | null): boolean => {
  if (turn === 'begin') return true;
  const isOfSettings = turn === 'enable' || turn === 'disable' || turn === 'configure';
  return open && (enabled || isOfSettings);
};

const OPEN: Readonly<Partial<Record<TrailTransition, boolean>>> = { begin: true, open: true, close: false };
const ENABLED: Readonly<Partial<Record<TrailTransition, boolean>>> = { enable: true, disable: false };

const applyTransition = (trail: TrailState, turn: TrailTransition | null, told: TrailEntry | null): TrailState => ({
  open: (turn && OPEN[turn]) ?? trail.open,
  enabled: (turn && ENABLED[turn]) ?? trail.enabled,
  last: told?.timestamp ?? trail.last,
  length: trail.length + (told ? 1 : 0),
});

/** Types of events that no trail tells of. */
export const listUnauditedTypes = (registry: EventRegistry): readonly string[] =>
  Object.entries(registry).flatMap(([type, { audit }]) => ('unaudited' in audit ? [type] : []));

const isOrganizationScoped = (event: RecordedEvent): event is OrganizationScopedEvent => event.organization !== null;

const getAuditMapping = (registry: EventRegistry, event: RecordedEvent): AuditMapping<never> | null => {
  const kind = registry[event.type];
  if (!kind) throw new Error(`no slice knows an event named ${event.type}`);
  return 'unaudited' in kind.audit ? null : kind.audit;
};
