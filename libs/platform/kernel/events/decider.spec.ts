import { describe, expect, it } from '@jest/globals';
import { decide, fold, type Decider } from './decider.js';
import type { Message } from './message.js';
import { conflict, Refusal } from '../errors/refusal.js';
import { specify } from '../spec.js';

type DoorEvent = Message<'DoorOpened', { by: string }> | Message<'DoorClosed', { by: string }>;
type DoorCommand = Message<'OpenDoor', { by: string }> | Message<'CloseDoor', { by: string }>;
type Door = { readonly open: boolean; readonly moves: number };

const door: Decider<Door, DoorCommand, DoorEvent> = {
  version: 1,
  initial: { open: false, moves: 0 },
  decide: {
    OpenDoor: ({ by }, { open }) => {
      if (open) throw conflict('The door is open');
      return [{ type: 'DoorOpened', data: { by } }];
    },
    CloseDoor: ({ by }, { open }) => (open ? [{ type: 'DoorClosed', data: { by } }] : []),
  },
  evolve: {
    DoorOpened: (_, { moves }) => ({ open: true, moves: moves + 1 }),
    DoorClosed: (_, { moves }) => ({ open: false, moves: moves + 1 }),
  },
};

const opened: DoorEvent = { type: 'DoorOpened', data: { by: 'ada' } };
const closed: DoorEvent = { type: 'DoorClosed', data: { by: 'bob' } };

describe('fold', () => {
  it('returns the initial state if there are no events', () => {
    expect(fold(door, door.initial, [])).toBe(door.initial);
  });

  it('applies every event, in order', () => {
    expect(fold(door, door.initial, [opened, closed, opened])).toEqual({ open: true, moves: 3 });
    expect(fold(door, door.initial, [opened, closed])).toEqual({ open: false, moves: 2 });
  });

  it('continues from a snapshot with the same result as from the first event', () => {
    const snapshot = fold(door, door.initial, [opened, closed]);
    expect(fold(door, snapshot, [opened])).toEqual(fold(door, door.initial, [opened, closed, opened]));
  });
});

describe('decide', () => {
  it("runs the decider's function for the command", () => {
    expect(decide(door, { type: 'OpenDoor', data: { by: 'ada' } }, door.initial)).toEqual([opened]);
    expect(decide(door, { type: 'CloseDoor', data: { by: 'ada' } }, door.initial)).toEqual([]);
  });

  it('passes the refusal on', () => {
    const state = fold(door, door.initial, [opened]);
    expect(() => decide(door, { type: 'OpenDoor', data: { by: 'bob' } }, state)).toThrow(Refusal);
  });
});

describe('specify', () => {
  const { given } = specify(door);
  const open = { type: 'OpenDoor', data: { by: 'ada' } } as const;

  it('passes if the decider does what the rule expects', () => {
    given().when(open).yields(opened);
    given(opened).when(open).refuses('conflict', 'The door is open');
    expect(given(opened, closed).state).toEqual({ open: false, moves: 2 });
  });

  it.each([
    ['another event', () => given().when(open).yields(closed)],
    [
      'an event although there is none',
      () =>
        given()
          .when({ type: 'CloseDoor', data: { by: 'ada' } })
          .yields(closed),
    ],
    ['a refusal although there is none', () => given().when(open).refuses('conflict', 'The door is open')],
    ['another kind of refusal', () => given(opened).when(open).refuses('not-found', 'The door is open')],
    ['another message', () => given(opened).when(open).refuses('conflict', 'The window is open')],
  ])('fails if the rule expects %s', (_, rule) => {
    expect(rule).toThrow(/expect/);
  });
});
