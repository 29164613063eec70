import { describe, expect, it } from '@jest/globals';
import type { Message } from './message.js';
import { projectEvent, projectEvents, type Projection } from './projection.js';
import type { RecordedEvent } from './recorded-event.js';
import { compileStatement, sql } from '../runtime/sql.js';

type LampEvent =
  | Message<'LampHung', { room: string }>
  | Message<'LampMoved', { from: string; to: string }>
  | Message<'LampDusted', Record<never, never>>
  | Message<'LampLit', { secretly: boolean }>;

const lamps = {
  name: 'lamps',
  version: 1,
  tables: ['lamps'],
  on: {
    LampHung: ({ room }, { stream }) => sql`insert into lamps (id, room) values (${stream}, ${room})`,
    LampMoved: ({ from, to }) => [sql`update rooms set lamps = lamps - 1 where id = ${from}`, sql`select ${to}`],
    LampDusted: null,
    LampLit: ({ secretly }, { stream }) => (secretly ? null : sql`update lamps set lit = true where id = ${stream}`),
  },
} satisfies Projection<LampEvent> as unknown as Projection;

const recorded = (type: string, data: unknown): RecordedEvent => ({
  type,
  data,
  id: '0190f3a0-0000-7000-8000-000000000001',
  stream: 'lamp-1',
  version: 1,
  schemaVersion: 1,
  organization: 'org-1',
  time: '2026-11-21T12:00:00.000Z',
  context: {
    accessor: { id: 'user-1', type: 'users', name: 'ada' },
    auth: 'Client',
    impersonator: null,
    request: { id: null, address: null, userAgent: null },
    correlation: '',
    causation: null,
  },
  transaction: '1',
  position: 1,
});

const statements = (type: string, data: unknown) => projectEvent(lamps, recorded(type, data)).map(compileStatement);

describe('a projection', () => {
  it('turns an event and its context into a statement', () => {
    expect(statements('LampHung', { room: 'hall' })).toEqual([
      { text: 'insert into lamps (id, room) values ($1, $2)', values: ['lamp-1', 'hall'] },
    ]);
  });

  it('returns several statements in order', () => {
    expect(statements('LampMoved', { from: 'hall', to: 'attic' }).map(({ values }) => values)).toEqual([
      ['hall'],
      ['attic'],
    ]);
  });

  it('returns no statement for an event that it ignores', () => {
    expect(statements('LampDusted', {})).toEqual([]);
  });

  it('decides by the data of an event whether to ignore it', () => {
    expect(statements('LampLit', { secretly: true })).toEqual([]);
    expect(statements('LampLit', { secretly: false })).toHaveLength(1);
  });

  it('returns no statement for an event type that it does not list', () => {
    expect(statements('DoorOpened', {})).toEqual([]);
  });
});

describe('a projection with bulk statements', () => {
  const bulkLamps: Projection = {
    ...lamps,
    bulk: { LampHung: (events) => [sql`insert into lamps select ${events.map(({ stream }) => stream)}`] },
  };
  const hung = (stream: string): RecordedEvent => ({ ...recorded('LampHung', { room: 'hall' }), stream });
  const valuesOf = (events: readonly RecordedEvent[]) =>
    projectEvents(bulkLamps, events).map((statement) => compileStatement(statement).values);

  it('uses them for events of one type that follow each other', () => {
    expect(
      valuesOf([hung('lamp-1'), hung('lamp-2'), recorded('LampLit', { secretly: false }), hung('lamp-3')]),
    ).toEqual([[['lamp-1', 'lamp-2']], ['lamp-1'], ['lamp-3', 'hall']]);
  });

  it('passes no two events of a stream to one of them', () => {
    expect(valuesOf([hung('lamp-1'), hung('lamp-2'), hung('lamp-1'), hung('lamp-3')])).toEqual([
      [['lamp-1', 'lamp-2']],
      [['lamp-1', 'lamp-3']],
    ]);
  });

  it('joins events over those that it does not list', () => {
    expect(valuesOf([hung('lamp-1'), recorded('DoorOpened', {}), hung('lamp-2')])).toEqual([[['lamp-1', 'lamp-2']]]);
  });
});
