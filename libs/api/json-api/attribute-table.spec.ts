import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import {
  defineAttributes,
  flag,
  nullableText,
  storedAttribute,
  upcastChanges,
  upcastData,
  upcastMember,
} from './attribute-table.js';
import { getTreatment } from './member-treatments.js';

const lamp = defineAttributes({
  isLit: flag(false),
  colour: { schema: z.enum(['white', 'red']), initial: 'white' },
  dimmedAt: { schema: z.string().exactOptional() },
  roomLabel: { ...storedAttribute(nullableText(5)), member: 'room-name', since: 2 },
  watts: { schema: z.int(), initial: 25, since: 3 },
});

describe('a table of attributes', () => {
  it('has the initial values, without attributes that stay absent', () =>
    expect(lamp.initial).toEqual({ isLit: false, colour: 'white', roomLabel: null, watts: 25 }));

  it('has the shape of the values in events, in the order of the table', () => {
    const schema = z.strictObject(lamp.shape);
    expect(Object.keys(lamp.shape)).toEqual(['isLit', 'colour', 'dimmedAt', 'roomLabel', 'watts']);
    expect(schema.safeParse(lamp.initial).success).toBe(true);
    expect(schema.safeParse({ ...lamp.initial, watts: 'many' }).success).toBe(false);
  });

  it('has a member of bodies for each attribute with a body schema', () => {
    const body = z.object(lamp.body);
    expect(Object.keys(lamp.body)).toEqual(['is-lit', 'room-name']);
    expect(getTreatment(lamp.body['room-name'])).toEqual({ treatment: 'kept' });
    expect(getTreatment(lamp.body['is-lit'])).toEqual({ treatment: 'supported' });
    expect(body.safeParse({ 'room-name': 'cellar' }).error?.issues[0]?.message).toBe('too long, at most 5 characters');
  });

  it('reads the values that a request names, and no others', () => {
    expect(lamp.read({ 'is-lit': true, 'room-name': null })).toEqual({ isLit: true, roomLabel: null });
    expect(Object.keys(lamp.read({}))).toEqual([]);
  });

  it('has the version of the youngest attribute, and what each version added', () => {
    expect(lamp.version).toBe(3);
    expect(lamp.addedAfter).toEqual({ 1: { roomLabel: null }, 2: { watts: 25 } });
    expect(lamp.added).toEqual({ roomLabel: null, watts: 25 });
  });

  it('has version 1 and adds nothing while no attribute came later', () => {
    const { version, addedAfter, added } = defineAttributes({ isLit: flag(true) });
    expect({ version, addedAfter, added }).toEqual({ version: 1, addedAfter: {}, added: {} });
  });
});

describe('upcasts of events', () => {
  it('add attributes to all values of a resource', () => {
    const [watts, label] = [{ watts: 25 }, { roomLabel: null }];
    expect(upcastData(lamp)).toEqual({ 1: [{ add: label }], 2: [{ add: watts }] });
    expect(upcastMember(lamp, 'settings')).toEqual({
      1: [{ to: 'settings', add: label }],
      2: [{ to: 'settings', add: watts }],
    });
  });

  it('add nothing to changed values', () => expect(upcastChanges(lamp)).toEqual({ 1: [], 2: [] }));
});
