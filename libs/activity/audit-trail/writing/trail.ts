import {
  findAuditMapping,
  formatTimestamp,
  getEventKind,
  listEventTypes,
  type AuditMapping,
  type EventRegistry,
  type RecordedEvent,
  type Timestamp,
} from '#platform/kernel';
import { createEntry, type TrailEntry, type TrailScopedEvent } from './trail-entry.js';

/**
 * The scope of the audit trail of the site, where other trails have the id of their organization. Site administrators
 * read it. It records events that belong to no organization, and what concerns organizations as a whole.
 */
export const SITE_TRAIL = 'site';

/**
 * The audit trail of an organization:
 *
 *   closed ──gets the audit entitlement──► open ──loses it, or is deleted──► closed
 *
 * While it is open, owners can stop and resume the recording of entries. Changes of its own settings are recorded even
 * while recording is stopped, so that the audit trail shows both ends of a gap. Entries from before the gap stay
 * readable. The audit trail of the site is always open, and nobody can stop it.
 *
 * Readers resume at "later than the last timestamp I saw". So timestamps strictly increase in the order of the log: an
 * entry has the time of its event, or the last timestamp plus a millisecond if that time is not later. Full seconds are
 * avoided, because some readers omit the zero fraction when they resume, and the server reads such a time as the end of
 * the second. Entries are also numbered without gaps. `last` and `length` are stored apart from the
 * entries, so that pruning does not affect them and replaying the log gives the same timestamps and ordinals.
 */
export type TrailState = {
  /** Whether the organization has the audit entitlement. Only then its audit trail can be read. */
  readonly open: boolean;
  /** Whether the owners have recording enabled. */
  readonly enabled: boolean;
  readonly last: Timestamp | null;
  /** Number of entries so far, which is the ordinal of the last one. */
  readonly length: number;
};

export type NumberedEntry = { readonly ordinal: number; readonly entry: TrailEntry };

/**
 * Effect of an event on its organization's audit trail, besides adding its entry.
 *
 * begin the organization is created with the entitlement, or got it before version 2 of the change; the event is the
 * first entry open the organization gets the entitlement; the trail begins after this event close the
 * organization loses the entitlement, or is deleted; this is the last entry enable, disable, configure owners change
 * the trail's settings, which is recorded whether or not the trail is enabled
 */
export type TrailTransition = 'begin' | 'open' | 'close' | 'enable' | 'disable' | 'configure';

export type TrailUpdate = {
  readonly entries: readonly NumberedEntry[];
  /** State of each changed audit trail after the events. */
  readonly trails: ReadonlyMap<string, TrailState>;
};

const createTrail = (organization: string): TrailState => ({
  open: organization === SITE_TRAIL,
  enabled: true,
  last: null,
  length: 0,
});

const addMillisecond = (time: Timestamp): Timestamp => formatTimestamp(Date.parse(time) + 1);

const computeNextTimestamp = (last: Timestamp | null, time: Timestamp): Timestamp => {
  const next = last === null || time > last ? time : addMillisecond(last);
  return next.endsWith('.000Z') ? addMillisecond(next) : next;
};

/**
 * Returns the entries of events and the new state of their audit trails. The result does not depend on how events are
 * split into batches.
 */
export const computeTrailUpdate = (
  registry: EventRegistry,
  getTransition: (event: RecordedEvent) => TrailTransition | null,
  before: ReadonlyMap<string, TrailState>,
  events: readonly RecordedEvent[],
): TrailUpdate => {
  const entries: NumberedEntry[] = [];
  const trails = new Map<string, TrailState>();
  for (const event of events.flatMap((recorded) => listScopedEvents(registry, recorded))) {
    const trail = trails.get(event.organization) ?? before.get(event.organization) ?? createTrail(event.organization);
    const transition = event.organization === SITE_TRAIL ? null : getTransition(event);
    const row = getAuditMapping(registry, event);
    const entry =
      row && isEntryRecorded(trail, transition)
        ? createEntry(event, row, computeNextTimestamp(trail.last, event.time))
        : null;
    if (entry) entries.push({ ordinal: trail.length + 1, entry });
    if (entry || transition) trails.set(event.organization, applyTransition(trail, transition, entry));
  }
  return { entries, trails };
};

/** Returns whether an event gets an entry, given the state of the audit trail before the event. */
const isEntryRecorded = ({ open, enabled }: TrailState, transition: TrailTransition | null): boolean => {
  if (transition === 'begin') return true;
  const isSettingsChange = transition === 'enable' || transition === 'disable' || transition === 'configure';
  return open && (enabled || isSettingsChange);
};

const OPEN: Readonly<Partial<Record<TrailTransition, boolean>>> = { begin: true, open: true, close: false };
const ENABLED: Readonly<Partial<Record<TrailTransition, boolean>>> = { enable: true, disable: false };

const applyTransition = (
  trail: TrailState,
  transition: TrailTransition | null,
  entry: TrailEntry | null,
): TrailState => ({
  open: (transition && OPEN[transition]) ?? trail.open,
  enabled: (transition && ENABLED[transition]) ?? trail.enabled,
  last: entry?.timestamp ?? trail.last,
  length: trail.length + (entry ? 1 : 0),
});

/** Returns the types of events that no audit trail records. */
export const listUnauditedTypes = (registry: EventRegistry): readonly string[] =>
  listEventTypes(registry, ({ audit }) => 'unaudited' in audit);

const hasOrganization = (event: RecordedEvent): event is TrailScopedEvent => event.organization !== null;

/** Returns the event once for each audit trail that records it, with the id of the organization or SITE_TRAIL. */
export const listScopedEvents = (registry: EventRegistry, event: RecordedEvent): readonly TrailScopedEvent[] => {
  const row = getAuditMapping(registry, event);
  if (hasOrganization(event)) {
    return row?.site === 'always' ? [event, { ...event, organization: SITE_TRAIL }] : [event];
  }
  // Safe, because the registry finds the mapping by the type of the event.
  const organizations = row?.organizations?.(event.data as never) ?? [];
  return [...organizations, ...(row?.site ? [SITE_TRAIL] : [])].map((organization) => ({ ...event, organization }));
};

/** Returns the types of events of organizations that the audit trail of the site records too. */
export const listSiteTypes = (registry: EventRegistry): readonly string[] =>
  listEventTypes(registry, ({ audit }) => 'site' in audit && audit.site === 'always');

const getAuditMapping = (registry: EventRegistry, event: RecordedEvent): AuditMapping<never> | null =>
  findAuditMapping(getEventKind(registry, event.type), event);
