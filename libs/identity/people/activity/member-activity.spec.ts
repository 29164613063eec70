import fc from 'fast-check';
import { describe, expect, it } from '@jest/globals';
import type { EventContext, RecordedEvent } from '#platform/kernel';
import { context as lampContext } from '../../../storage/event-store/spec.js';
import { ActivityMemory } from './member-activity.follower.js';
import { computeActivityUpdate, type ActivityUpdate } from './member-activity.js';

const NOON = Date.UTC(2026, 10, 21, 12);

const CONTEXT: EventContext = { ...lampContext, accessor: { id: 'user-ada', type: 'users', name: 'ada' } };

type TestEvent = {
  readonly organization?: string | null;
  readonly type?: string;
  /** Seconds after noon. */
  readonly at?: number;
  readonly context?: Partial<EventContext>;
};

const recorded = ({ organization = 'acme', type = 'Changed', at = 0, context }: TestEvent, n = 0): RecordedEvent => ({
  type,
  data: {},
  id: String(n),
  stream: 'item-1',
  version: n + 1,
  schemaVersion: 1,
  organization,
  time: new Date(NOON + at * 1_000).toISOString(),
  context: { ...CONTEXT, ...context },
  transaction: '700',
  position: n,
});

const toUser = (id: string): Partial<EventContext> => ({ accessor: { id, type: 'users', name: id } });

describe('computeActivityUpdate', () => {
  it('returns the latest minute of each user in each organization', () => {
    const events = [
      { at: 59 },
      { at: 119 },
      { at: 30 },
      { organization: 'other', at: 240 },
      { at: 61, context: toUser('user-bob') },
    ];
    expect(computeActivityUpdate(events.map(recorded)).activities).toEqual([
      { organization: 'acme', user: 'user-ada', minute: '2026-11-21T12:01:00.000Z' },
      { organization: 'other', user: 'user-ada', minute: '2026-11-21T12:04:00.000Z' },
      { organization: 'acme', user: 'user-bob', minute: '2026-11-21T12:01:00.000Z' },
    ]);
  });

  it.each<[string, TestEvent]>([
    ['of the site', { organization: null }],
    ['of a token of a team', { context: { accessor: { id: 'team-1', type: 'teams', name: 'writers' } } }],
    ['of the server', { context: { auth: 'System' } }],
    ['of somebody who acts as the user', { context: { auth: 'Impersonated', impersonator: 'user-root' } }],
    ['that another event caused', { context: { causation: '0c1d2e3f-4a5b-4c6d-8e7f-9a0b1c2d3e4f' } }],
    ['that another service reports', { type: 'AuditFactReported' }],
  ])('does not count an event %s', (_, event) => {
    expect(computeActivityUpdate([recorded(event)])).toEqual({ deleted: [], activities: [] });
  });

  it('forgets the activity in an organization with its deletion', () => {
    const events = [{}, { organization: 'other' }, { type: 'OrganizationDeleted' }];
    expect(computeActivityUpdate(events.map(recorded))).toEqual({
      deleted: ['acme'],
      activities: [{ organization: 'other', user: 'user-ada', minute: '2026-11-21T12:00:00.000Z' }],
    });
  });
});

/** The rows of the view, by organization and user. */
type Rows = Map<string, string>;

const applyUpdate = (rows: Rows, { deleted, activities }: ActivityUpdate): void => {
  for (const key of rows.keys()) if (deleted.some((one) => key.startsWith(`${one}/`))) rows.delete(key);
  for (const { organization, user, minute } of activities) {
    const key = `${organization}/${user}`;
    const before = rows.get(key);
    if (before === undefined || before < minute) rows.set(key, minute);
  }
};

describe('ActivityMemory', () => {
  it('returns nothing for a minute that is stored, and returns a batch again that was not stored', () => {
    const memory = new ActivityMemory();
    const [first, second, third] = [{ at: 1 }, { at: 2 }, { at: 3 }].map(recorded) as RecordedEvent[];
    if (!first || !second || !third) throw new Error('there are three events');
    expect(memory.reduce([first]).activities).toHaveLength(1);
    expect(memory.reduce([first, second]).activities).toHaveLength(1);
    expect(memory.reduce([third]).activities).toEqual([]);
  });

  it('leads to the same rows as the whole log, however it is split and however often batches fail', () => {
    const event = fc.record({
      organization: fc.constantFrom('acme', 'other'),
      type: fc.oneof({ weight: 20, arbitrary: fc.constant('Changed') }, fc.constant('OrganizationDeleted')),
      at: fc.integer({ min: 0, max: 300 }),
      context: fc.constantFrom('user-ada', 'user-bob').map(toUser),
    });
    const cuts = fc.array(fc.record({ size: fc.integer({ min: 1, max: 5 }), fails: fc.boolean() }), { minLength: 1 });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40 }), cuts, (events, batches) => {
        const log = events.map(recorded);
        const [whole, rows]: [Rows, Rows] = [new Map(), new Map()];
        for (const one of log) applyUpdate(whole, computeActivityUpdate([one]));
        const memory = new ActivityMemory();
        for (let [from, n] = [0, 0]; from < log.length; n += 1) {
          const { size = 1, fails = false } = batches[n % batches.length] ?? {};
          const update = memory.reduce(log.slice(from, from + size));
          // Every second attempt succeeds, so that the log ends.
          if (fails && n % 2 === 0) continue;
          applyUpdate(rows, update);
          from += size;
        }
        expect(new Map([...rows].toSorted())).toEqual(new Map([...whole].toSorted()));
      }),
    );
  });
});
