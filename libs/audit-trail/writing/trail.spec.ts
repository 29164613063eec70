import fc from 'fast-check';
import { describe, expect, it } from '@jest/globals';
import type { EventRegistry, RecordedEvent } from '#kernel';
import { computeTrailUpdate, type TrailState, type TrailTransition } from './trail.js';

const kind = { schemaVersion: 1, topic: 'rooms', schema: { parse: (data: unknown) => data as never } };
const registry: EventRegistry = {
  LampLit: { ...kind, audit: { resource: 'lamp', action: 'light' } },
  LampSeen: { ...kind, audit: { unaudited: 'nothing has changed' } },
  RightGiven: { ...kind, audit: { resource: 'organization', action: 'update' } },
  RightTaken: { ...kind, audit: { resource: 'organization', action: 'update' } },
  HouseBuilt: { ...kind, audit: { resource: 'organization', action: 'create' } },
  HouseSold: { ...kind, audit: { resource: 'organization', action: 'destroy' } },
  SwitchedOn: { ...kind, audit: { resource: 'organization', action: 'update' } },
  SwitchedOff: { ...kind, audit: { resource: 'organization', action: 'update' } },
  Configured: { ...kind, audit: { resource: 'organization', action: 'update' } },
};
const TURNS: Readonly<Record<string, TrailTransition>> = {
  HouseBuilt: 'begin',
  RightGiven: 'open',
  RightTaken: 'close',
  HouseSold: 'close',
  SwitchedOn: 'enable',
  SwitchedOff: 'disable',
  Configured: 'configure',
};
const turnOf = ({ type }: RecordedEvent): TrailTransition | null => TURNS[type] ?? null;

/** And not exactly: whole seconds are avoided. */
const NOON = Date.UTC(2026, 10, 21, 12, 0, 0, 100);

/** An event so many milliseconds after noon. */
type Told = readonly [organization: string | null, type: string, at: number];

const recorded = ([organization, type, at]: Told, index: number): RecordedEvent => ({
  type,
  data: {},
  id: String(index),
  stream: 'lamp-1',
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

/** What a follower does with a log that it gets in batches: entry ids with milliseconds after noon, and the trails. */
const follow = (batches: readonly (readonly RecordedEvent[])[]) => {
  const trails = new Map<string, TrailState>();
  const entries = batches.flatMap((batch) => {
    const next = computeTrailUpdate(registry, turnOf, trails, batch);
    for (const [organization, trail] of next.trails) trails.set(organization, trail);
    return next.entries;
  });
  return { entries, trails };
};

const told = (...log: readonly Told[]) =>
  follow([log.map(recorded)]).entries.map(({ entry: { id, timestamp } }) => [Number(id), Date.parse(timestamp) - NOON]);

describe('the trail of an organization', () => {
  it('has the events’ own times where these move on', () => {
    expect(told(['a', 'HouseBuilt', 0], ['a', 'LampLit', 5], ['a', 'LampLit', 9])).toEqual([
      [0, 0],
      [1, 5],
      [2, 9],
    ]);
  });

  it('has no whole seconds, which some readers write so that they mean the end of it', () => {
    expect(
      told(['a', 'HouseBuilt', 899], ['a', 'LampLit', 899], ['a', 'LampLit', 900], ['b', 'HouseBuilt', 1_900]),
    ).toEqual([
      [0, 899],
      [1, 901],
      [2, 902],
      [3, 1_901],
    ]);
  });

  it('moves a millisecond on where the events’ times stand still or go back', () => {
    expect(told(['a', 'HouseBuilt', 5], ['a', 'LampLit', 5], ['a', 'LampLit', 0], ['a', 'LampLit', 8])).toEqual([
      [0, 5],
      [1, 6],
      [2, 7],
      [3, 8],
    ]);
  });

  it('knows nothing of other trails', () => {
    expect(told(['a', 'HouseBuilt', 5], ['b', 'HouseBuilt', 5], ['a', 'LampLit', 5], ['b', 'LampLit', 5])).toEqual([
      [0, 5],
      [1, 5],
      [2, 6],
      [3, 6],
    ]);
  });

  it('begins with the organization’s creation if that brings the entitlement', () => {
    const log: Told[] = [
      ['a', 'HouseBuilt', 0],
      ['a', 'LampLit', 1],
    ];
    expect(told(...log)).toEqual([
      [0, 0],
      [1, 1],
    ]);
  });

  it('begins after the change that grants the entitlement, and ends with the change that takes it', () => {
    const log: Told[] = [
      ['a', 'LampLit', 0],
      ['a', 'RightGiven', 1],
      ['a', 'LampLit', 2],
      ['a', 'RightTaken', 3],
      ['a', 'LampLit', 4],
      ['a', 'RightGiven', 5],
      ['a', 'LampLit', 2],
    ];
    expect(told(...log)).toEqual([
      [2, 2],
      [3, 3],
      [6, 4],
    ]);
  });

  it('records a change of its settings while it is disabled, and nothing else', () => {
    const log: Told[] = [
      ['a', 'HouseBuilt', 0],
      ['a', 'SwitchedOff', 1],
      ['a', 'LampLit', 2],
      ['a', 'Configured', 3],
      ['a', 'SwitchedOn', 4],
      ['a', 'LampLit', 5],
    ];
    expect(told(...log).map(([id]) => id)).toEqual([0, 1, 3, 4, 5]);
  });

  it('records no change of its settings while the organization is not entitled, and applies it later', () => {
    const log: Told[] = [
      ['a', 'SwitchedOff', 0],
      ['a', 'RightGiven', 1],
      ['a', 'LampLit', 2],
      ['a', 'SwitchedOn', 3],
      ['a', 'LampLit', 4],
    ];
    expect(told(...log).map(([id]) => id)).toEqual([3, 4]);
  });

  it('leaves out what is unaudited, and what belongs to the site', () => {
    expect(told(['a', 'HouseBuilt', 0], ['a', 'LampSeen', 1], [null, 'LampLit', 2])).toEqual([[0, 0]]);
  });

  it('ends with its organization', () => {
    expect(told(['a', 'HouseBuilt', 0], ['a', 'HouseSold', 1], ['a', 'LampLit', 2])).toEqual([
      [0, 0],
      [1, 1],
    ]);
  });

  it('refuses an event that no slice knows', () => {
    expect(() => told(['a', 'Unheard', 0])).toThrow('no slice knows an event named Unheard');
  });

  const logs = fc.array(
    fc.tuple(
      fc.constantFrom('a', 'b', null),
      fc.constantFrom(
        'LampLit',
        'LampLit',
        'LampLit',
        'LampSeen',
        'RightGiven',
        'RightGiven',
        'RightTaken',
        'HouseBuilt',
        'HouseSold',
        'SwitchedOff',
        'SwitchedOn',
      ),
      fc.integer({ min: -20, max: 20 }),
    ),
    { maxLength: 60 },
  );

  it('has strictly increasing timestamps, never before the event’s own, and numbers without gaps', () => {
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

  it('is the same however the log is cut into batches', () => {
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
