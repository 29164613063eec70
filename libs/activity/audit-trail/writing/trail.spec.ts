import fc from 'fast-check';
import { describe, expect, it } from '@jest/globals';
import { defineEvents, type EventRegistry, type RecordedEvent } from '#platform/kernel';
import { computeTrailUpdate, type TrailState, type TrailTransition } from './trail.js';

const schema = { parse: (data: unknown) => data as never };
const registry: EventRegistry = defineEvents(
  { topic: 'items', stream: 'item', live: { unsent: 'a sample' } },
  {
    ItemChanged: { schema, audit: { resource: 'item', action: 'change' } },
    ItemRead: { schema, audit: { unaudited: 'nothing has changed' } },
    EntitlementGranted: { schema, audit: { resource: 'organization', action: 'update' } },
    EntitlementRemoved: { schema, audit: { resource: 'organization', action: 'update' } },
    OrganizationCreated: { schema, audit: { resource: 'organization', action: 'create' } },
    OrganizationDeleted: { schema, audit: { resource: 'organization', action: 'destroy' } },
    TrailEnabled: { schema, audit: { resource: 'organization', action: 'update' } },
    TrailDisabled: { schema, audit: { resource: 'organization', action: 'update' } },
    TrailConfigured: { schema, audit: { resource: 'organization', action: 'update' } },
    PersonSignedIn: { schema, audit: { resource: 'session', action: 'create', organizations: () => ['a', 'c'] } },
  },
);
const TRANSITIONS: Readonly<Record<string, TrailTransition>> = {
  OrganizationCreated: 'begin',
  EntitlementGranted: 'open',
  EntitlementRemoved: 'close',
  OrganizationDeleted: 'close',
  TrailEnabled: 'enable',
  TrailDisabled: 'disable',
  TrailConfigured: 'configure',
};
const getTransition = ({ type }: RecordedEvent): TrailTransition | null => TRANSITIONS[type] ?? null;

/** Not exactly noon, because audit trails avoid full seconds. */
const NOON = Date.UTC(2026, 10, 21, 12, 0, 0, 100);

/** Organization, type, and time in milliseconds after noon of an event. */
type TestEvent = readonly [organization: string | null, type: string, at: number];

const recorded = ([organization, type, at]: TestEvent, index: number): RecordedEvent => ({
  type,
  data: {},
  id: String(index),
  stream: 'item-1',
  version: index + 1,
  schemaVersion: 1,
  organization,
  time: new Date(NOON + at).toISOString(),
  context: {
    accessor: { id: 'user-1', type: 'users', name: 'ada' },
    auth: 'Client',
    impersonator: null,
    request: { id: null, address: null, userAgent: null },
    correlation: '',
    causation: null,
  },
  transaction: '700',
  position: index,
});

/** Follows a log in batches. Returns the entries and the resulting state of the audit trails. */
const follow = (batches: readonly (readonly RecordedEvent[])[]) => {
  const trails = new Map<string, TrailState>();
  const entries = batches.flatMap((batch) => {
    const next = computeTrailUpdate(registry, getTransition, trails, batch);
    for (const [organization, trail] of next.trails) trails.set(organization, trail);
    return next.entries;
  });
  return { entries, trails };
};

const listEntries = (...log: readonly TestEvent[]) =>
  follow([log.map(recorded)]).entries.map(({ entry: { id, timestamp } }) => [Number(id), Date.parse(timestamp) - NOON]);

describe('the audit trail of an organization', () => {
  it('uses the times of events while they increase', () => {
    expect(listEntries(['a', 'OrganizationCreated', 0], ['a', 'ItemChanged', 5], ['a', 'ItemChanged', 9])).toEqual([
      [0, 0],
      [1, 5],
      [2, 9],
    ]);
  });

  it('avoids full seconds, because some readers send them as the end of the second', () => {
    expect(
      listEntries(
        ['a', 'OrganizationCreated', 899],
        ['a', 'ItemChanged', 899],
        ['a', 'ItemChanged', 900],
        ['b', 'OrganizationCreated', 1_900],
      ),
    ).toEqual([
      [0, 899],
      [1, 901],
      [2, 902],
      [3, 1_901],
    ]);
  });

  it('adds a millisecond if the times of events repeat or go back', () => {
    expect(
      listEntries(
        ['a', 'OrganizationCreated', 5],
        ['a', 'ItemChanged', 5],
        ['a', 'ItemChanged', 0],
        ['a', 'ItemChanged', 8],
      ),
    ).toEqual([
      [0, 5],
      [1, 6],
      [2, 7],
      [3, 8],
    ]);
  });

  it('is independent of other audit trails', () => {
    expect(
      listEntries(
        ['a', 'OrganizationCreated', 5],
        ['b', 'OrganizationCreated', 5],
        ['a', 'ItemChanged', 5],
        ['b', 'ItemChanged', 5],
      ),
    ).toEqual([
      [0, 5],
      [1, 5],
      [2, 6],
      [3, 6],
    ]);
  });

  it('records an event of the site in the organizations that the event names', () => {
    const log: readonly TestEvent[] = [
      ['a', 'OrganizationCreated', 5],
      ['b', 'OrganizationCreated', 5],
      ['c', 'OrganizationCreated', 5],
      [null, 'PersonSignedIn', 9],
    ];
    const { entries } = follow([log.map(recorded)]);
    const signIns = entries.filter(({ entry }) => entry.resource.type === 'session');
    expect(signIns.map(({ ordinal, entry }) => [entry.auth.organization_id, ordinal, entry.id])).toEqual([
      ['a', 2, '3'],
      ['c', 2, '3'],
    ]);
  });

  it('starts with the creation of the organization if that includes the entitlement', () => {
    const log: TestEvent[] = [
      ['a', 'OrganizationCreated', 0],
      ['a', 'ItemChanged', 1],
    ];
    expect(listEntries(...log)).toEqual([
      [0, 0],
      [1, 1],
    ]);
  });

  it('starts after the change that grants the entitlement, and ends with the change that removes it', () => {
    const log: TestEvent[] = [
      ['a', 'ItemChanged', 0],
      ['a', 'EntitlementGranted', 1],
      ['a', 'ItemChanged', 2],
      ['a', 'EntitlementRemoved', 3],
      ['a', 'ItemChanged', 4],
      ['a', 'EntitlementGranted', 5],
      ['a', 'ItemChanged', 2],
    ];
    expect(listEntries(...log)).toEqual([
      [2, 2],
      [3, 3],
      [6, 4],
    ]);
  });

  it('records only changes of its settings while it is disabled', () => {
    const log: TestEvent[] = [
      ['a', 'OrganizationCreated', 0],
      ['a', 'TrailDisabled', 1],
      ['a', 'ItemChanged', 2],
      ['a', 'TrailConfigured', 3],
      ['a', 'TrailEnabled', 4],
      ['a', 'ItemChanged', 5],
    ];
    expect(listEntries(...log).map(([id]) => id)).toEqual([0, 1, 3, 4, 5]);
  });

  it('records no change of its settings while the organization is not entitled, and applies it later', () => {
    const log: TestEvent[] = [
      ['a', 'TrailDisabled', 0],
      ['a', 'EntitlementGranted', 1],
      ['a', 'ItemChanged', 2],
      ['a', 'TrailEnabled', 3],
      ['a', 'ItemChanged', 4],
    ];
    expect(listEntries(...log).map(([id]) => id)).toEqual([3, 4]);
  });

  it('omits unaudited events and events without an organization', () => {
    expect(listEntries(['a', 'OrganizationCreated', 0], ['a', 'ItemRead', 1], [null, 'ItemChanged', 2])).toEqual([
      [0, 0],
    ]);
  });

  it('ends with its organization', () => {
    expect(
      listEntries(['a', 'OrganizationCreated', 0], ['a', 'OrganizationDeleted', 1], ['a', 'ItemChanged', 2]),
    ).toEqual([
      [0, 0],
      [1, 1],
    ]);
  });

  it('refuses an event that no module defines', () => {
    expect(() => listEntries(['a', 'Unheard', 0])).toThrow('unknown event type Unheard');
  });

  const logs = fc.array(
    fc.tuple(
      fc.constantFrom('a', 'b', null),
      fc.constantFrom(
        'ItemChanged',
        'ItemChanged',
        'ItemChanged',
        'ItemRead',
        'EntitlementGranted',
        'EntitlementGranted',
        'EntitlementRemoved',
        'OrganizationCreated',
        'OrganizationDeleted',
        'TrailDisabled',
        'TrailEnabled',
      ),
      fc.integer({ min: -20, max: 20 }),
    ),
    { maxLength: 60 },
  );

  it('has strictly increasing timestamps, never before the time of the event, and ordinals without gaps', () => {
    fc.assert(
      fc.property(logs, (log) => {
        const last = new Map<string, string>();
        const ordinals = new Map<string, number>();
        for (const { ordinal, entry } of follow([log.map(recorded)]).entries) {
          const { id, timestamp, auth } = entry;
          expect(ordinal).toBe((ordinals.get(auth.organization_id) ?? 0) + 1);
          ordinals.set(auth.organization_id, ordinal);
          expect(timestamp > (last.get(auth.organization_id) ?? '')).toBe(true);
          expect(timestamp >= new Date(NOON + (log[Number(id)]?.[2] ?? 0)).toISOString()).toBe(true);
          last.set(auth.organization_id, timestamp);
        }
      }),
    );
  });

  it('does not depend on how the log is split into batches', () => {
    fc.assert(
      fc.property(logs, fc.array(fc.nat({ max: 60 })), (log, cuts) => {
        const events = log.map(recorded);
        const edges = [0, ...cuts.map((cut) => Math.min(cut, events.length)), events.length].toSorted((a, b) => a - b);
        const batches = edges.slice(1).map((edge, index) => events.slice(edges[index], edge));
        expect(follow(batches)).toEqual(follow([events]));
      }),
    );
  });
});
