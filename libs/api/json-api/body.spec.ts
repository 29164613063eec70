import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { Refusal, type Problem } from '#platform/kernel';
import { parseBody } from './body.js';
import {
  strictObject,
  omitUndefined,
  identifiersBody,
  resourceBody,
  omitNullish,
  toManyInput,
  parseToMany,
  toOneInput,
  parseToOne,
  fromAttributes,
} from './body-schemas.js';
import { ignoredMember, unsupportedMember } from './member-treatments.js';

const lampBody = resourceBody(
  'lamps',
  z.object({
    name: z.string(),
    'is-lit': z.boolean().optional(),
    watts: z.int().optional(),
    colour: z.enum(['white', 'red']).optional(),
    rooms: z.array(z.string()).optional(),
    shade: z.object({ size: z.number() }).optional(),
    labels: z.record(z.string(), z.string()).optional(),
    lifetime: z.iso.datetime({ offset: true, error: 'Lifetime must be an ISO 8601 time' }).optional(),
    note: z.string().max(3).nullish(),
  }),
  z.object({ room: toOneInput }).optional(),
);

const lamp = (attributes: object, more: object = {}) => ({ data: { type: 'lamps', attributes, ...more } });

const problemsOf = (body: unknown, schema: z.ZodType = lampBody): readonly Problem[] => {
  try {
    parseBody(schema, body);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    expect(error.kind).toBe('unprocessable');
    return error.problems;
  }
  return [];
};

describe('a body with a strict schema', () => {
  it('reports every unknown member with its pointer', () => {
    const schema = z.strictObject({ shade: z.strictObject({ size: z.number() }) });
    expect(problemsOf({ shade: { size: 1, 'col-our': 2, x: 3 }, moon: {} }, schema)).toEqual([
      { detail: 'Col our is not known here', pointer: '/shade/col-our' },
      { detail: 'X is not known here', pointer: '/shade/x' },
      { detail: 'Moon is not known here', pointer: '/moon' },
    ]);
  });
});

describe('a closed object', () => {
  const schema = z.object({
    rights: strictObject({
      read: z.boolean().nullish(),
      write: z.boolean(),
      vendor: ignoredMember('means nothing here'),
    }).nullish(),
  });

  it('reports each unknown member with the accepted ones, together with all other problems', () => {
    expect(
      problemsOf({ rights: { read: 1, constructor: true, vendor: 'x', 'the-rest': 1, write: true } }, schema),
    ).toEqual([
      { detail: 'Read must be true or false', pointer: '/rights/read' },
      { detail: 'Constructor is not known here; accepted are read, write', pointer: '/rights/constructor' },
      { detail: 'The rest is not known here; accepted are read, write', pointer: '/rights/the-rest' },
    ]);
  });

  it('drops members that clients send and that have no effect', () => {
    expect(parseBody(schema, { rights: { write: false, vendor: [] } })).toEqual({ rights: { write: false } });
    expect(parseBody(schema, { rights: null })).toEqual({ rights: null });
    expect(parseBody(schema, {})).toEqual({});
  });

  it.each([[[]], ['all'], [7]])('refuses %j', (rights) => {
    expect(problemsOf({ rights }, schema)).toEqual([{ detail: 'Rights must be an object', pointer: '/rights' }]);
  });
});

describe('a member of an unsupported feature', () => {
  const why = 'lamps do not dim';
  const schema = resourceBody(
    'lamps',
    z.object({ name: z.string(), 'dim-to': unsupportedMember(why) }),
    z.object({ dimmer: unsupportedMember(why) }).optional(),
  );

  it.each([true, 0, 7, 'half', [1], { level: 1 }])('is refused by name if its value has an effect: %j', (value) => {
    expect(problemsOf(lamp({ name: 'x', 'dim-to': value }), schema)).toEqual([
      { detail: `Dim to is not supported: ${why}`, pointer: '/data/attributes/dim-to' },
    ]);
    expect(problemsOf(lamp({ name: 'x' }, { relationships: { dimmer: { data: { id: 'd' } } } }), schema)).toEqual([
      { detail: `Dimmer is not supported: ${why}`, pointer: '/data/relationships/dimmer' },
    ]);
  });

  it.each([undefined, null, false, '', [], {}, { data: null }, { data: [] }])(
    'is dropped if its value has no effect: %j',
    (value) => {
      const body = lamp({ name: 'x', 'dim-to': value }, { relationships: { dimmer: value } });
      expect(parseBody(schema, body).data).toEqual({ type: 'lamps', attributes: { name: 'x' }, relationships: {} });
    },
  );
});

describe('a valid body', () => {
  it('may name attributes with underscores', () => {
    expect(parseBody(lampBody, lamp({ name: 'x', is_lit: true })).data.attributes).toEqual({
      name: 'x',
      'is-lit': true,
    });
    expect(problemsOf(lamp({ name: 'x', is_lit: 7 }))).toEqual([
      { detail: 'Is lit must be true or false', pointer: '/data/attributes/is-lit' },
    ]);
    const both = lamp({ name: 'x', is_lit: true, 'is-lit': false });
    expect(parseBody(lampBody, both).data.attributes).toEqual({ name: 'x', 'is-lit': false });
  });

  it('is parsed by the schema, which ignores unknown members', () => {
    const body = { ...lamp({ name: 'hall', unheard: 1 }, { id: 'lamp-1', relationships: { moon: {} } }), jsonapi: {} };
    expect(parseBody(lampBody, body)).toEqual({
      data: { type: 'lamps', attributes: { name: 'hall' }, relationships: {} },
    });
  });

  it.each([undefined, ''])('may omit its type: %j', (type) => {
    expect(parseBody(lampBody, { data: { type, attributes: { name: 'x' } } }).data.attributes.name).toBe('x');
  });

  it('distinguishes a missing attribute from null', () => {
    expect(parseBody(lampBody, lamp({ name: 'x', note: null })).data.attributes).toEqual({ name: 'x', note: null });
    expect(parseBody(lampBody, lamp({ name: 'x' })).data.attributes).toEqual({ name: 'x' });
  });

  it.each([{ data: null }, { data: { id: null } }, { data: { id: '' } }, {}])(
    'may have an empty relationship: %j',
    (relationship) => {
      expect(
        parseBody(lampBody, lamp({ name: 'x' }, { relationships: { room: relationship } })).data.relationships,
      ).toEqual({
        room: relationship,
      });
    },
  );

  it('may contain complete resources in a relationship, of which only type and id count', () => {
    const resource = { type: 'users', id: 'user-1', attributes: { username: 'ada' }, links: {} };
    expect(parseBody(identifiersBody('users'), { data: [resource] })).toEqual({
      data: [{ type: 'users', id: 'user-1' }],
    });
  });
});

describe('an invalid body', () => {
  it.each<[string, object, string, string]>([
    ['a missing required attribute', {}, '/data/attributes/name', "Name can't be blank"],
    ['null for a required attribute', { name: null }, '/data/attributes/name', "Name can't be blank"],
    ['a number for a string', { name: 1 }, '/data/attributes/name', 'Name must be a string'],
    [
      'a string for a boolean',
      { name: 'x', 'is-lit': 'yes' },
      '/data/attributes/is-lit',
      'Is lit must be true or false',
    ],
    [
      'a fraction for a whole number',
      { name: 'x', watts: 1.5 },
      '/data/attributes/watts',
      'Watts must be a whole number',
    ],
    ['a string for a number', { name: 'x', watts: '1' }, '/data/attributes/watts', 'Watts must be a number'],
    ['a string for a list', { name: 'x', rooms: 'a' }, '/data/attributes/rooms', 'Rooms must be a list'],
    ['a list for an object', { name: 'x', shade: [] }, '/data/attributes/shade', 'Shade must be an object'],
    ['a string for a map', { name: 'x', labels: 'a' }, '/data/attributes/labels', 'Labels must be an object'],
    [
      'a value that is not in the list',
      { name: 'x', colour: 'blue' },
      '/data/attributes/colour',
      'Colour must be one of white, red',
    ],
    [
      'an invalid time',
      { name: 'x', lifetime: 'long' },
      '/data/attributes/lifetime',
      'Lifetime must be an ISO 8601 time',
    ],
    ['an item of a list', { name: 'x', rooms: ['a', 1] }, '/data/attributes/rooms/1', 'Rooms must be a string'],
    [
      'a member of an object',
      { name: 'x', shade: { size: '9' } },
      '/data/attributes/shade/size',
      'Size must be a number',
    ],
  ])('is refused with pointer and message: %s', (_, attributes, pointer, detail) => {
    expect(problemsOf(lamp(attributes))).toEqual([{ detail, pointer }]);
  });

  it("is refused with the attribute's name before other messages of zod", () => {
    expect(problemsOf(lamp({ name: 'x', note: 'long' }))).toEqual([
      { detail: expect.stringMatching(/^Note: \S/), pointer: '/data/attributes/note' },
    ]);
  });

  it('is refused with all its problems at once', () => {
    expect(problemsOf(lamp({ 'is-lit': 1, watts: 'x' })).map(({ pointer }) => pointer)).toEqual([
      '/data/attributes/name',
      '/data/attributes/is-lit',
      '/data/attributes/watts',
    ]);
  });

  it.each([
    ['no body', undefined, '/data'],
    ['null', null, '/data'],
    ['no attributes', { data: { type: 'lamps' } }, '/data/attributes'],
    ['a list of resources', { data: [] }, '/data'],
    ['a string', 'lamps', '/'],
  ])('is refused with the deepest pointer that exists: %s', (_, body, pointer) => {
    expect(problemsOf(body).map((problem) => problem.pointer)).toEqual([pointer]);
  });

  it('is refused if it has another type', () => {
    expect(problemsOf({ data: { type: 'rooms', attributes: { name: 'x' } } })).toEqual([
      { detail: 'Type must be lamps', pointer: '/data/type' },
    ]);
    expect(problemsOf({ data: [{ type: 'teams', id: 'team-1' }] }, identifiersBody('users'))).toEqual([
      { detail: 'Type must be users', pointer: '/data/0/type' },
    ]);
  });

  it.each([{}, { id: '' }, { type: 'users', id: null }])('is refused if an entry has no id: %j', (entry) => {
    expect(problemsOf({ data: [{ id: 'user-1' }, entry] }, identifiersBody('users'))).toEqual([
      { detail: "Id can't be blank", pointer: '/data/1/id' },
    ]);
  });

  it('is refused if it has too many identifiers', () => {
    const some = (number: number) => ({ data: Array.from({ length: number }, (_, n) => ({ id: `user-${n}` })) });
    expect(problemsOf(some(501), identifiersBody('users'))).toEqual([
      { detail: 'Data: too many, at most 500 of them', pointer: '/data' },
    ]);
    expect(problemsOf(some(500), identifiersBody('users'))).toEqual([]);
    expect(problemsOf(some(501), identifiersBody('users', 501))).toEqual([]);
  });

  it.each([
    ['a NUL', 'a\0b'],
    ['half of a surrogate pair', '\ud83d'],
  ])('is refused if a text cannot be stored: %s', (_, text) => {
    expect(problemsOf(lamp({ name: text }))).toEqual([
      { detail: 'Name holds a character that cannot be stored', pointer: '/data/attributes/name' },
    ]);
    expect(problemsOf(lamp({ name: 'x', rooms: ['a', text] }))).toEqual([
      { detail: 'Rooms holds a character that cannot be stored', pointer: '/data/attributes/rooms/1' },
    ]);
    expect(problemsOf(lamp({ name: 'x', labels: { [text]: 'x' } }))).toHaveLength(1);
  });

  it('is not refused for any other character', () => {
    const name = 'ünïcode 工作 👩‍🚀 \u0001';
    expect(parseBody(lampBody, lamp({ name })).data.attributes.name).toBe(name);
  });

  it('is accepted if members without a schema are nested deeper than the stack', () => {
    const deep: unknown = JSON.parse(`${'['.repeat(200_000)}"a\\u0000b"${']'.repeat(200_000)}`);
    const open = resourceBody('lamps', z.object({ name: z.string() }));
    expect(problemsOf(lamp({ name: 'x' }, { relationships: deep }), open)).toHaveLength(1);
  });

  it('is refused with its first hundred problems if it has more', () => {
    const lists = [1, { id: '\0' }].map((entry) => ({ data: Array.from({ length: 450 }, () => entry) }));
    for (const list of lists) expect(problemsOf(list, identifiersBody('users'))).toHaveLength(100);
  });
});

describe('reading the values of a body', () => {
  it('keeps null and drops undefined', () => {
    expect(omitUndefined({ a: null, b: undefined, c: 0, d: '' })).toEqual({ a: null, c: 0, d: '' });
  });

  it('drops null too if a value cannot be cleared', () => {
    expect(omitNullish({ a: null, b: undefined, c: 0, d: '', e: false })).toEqual({ c: 0, d: '', e: false });
  });

  it('converts attribute names to camelCase', () => {
    const values = fromAttributes({ 'auto-apply-run-trigger': true, note: null, 'is-lit': undefined });
    expect(values).toEqual({ autoApplyRunTrigger: true, note: null });
    expect(Object.keys(values)).not.toContain('isLit');
  });

  it.each([
    [undefined, undefined],
    [{}, undefined],
    [{ data: null }, null],
    [{ data: { id: null } }, null],
    [{ data: { id: '' } }, null],
    [{ data: { id: 'room-1' } }, 'room-1'],
  ])('reads a to-one relationship: %j gives %j', (input, id) => expect(parseToOne(input)).toBe(id));

  it.each([
    [undefined, undefined],
    [{}, undefined],
    [{ data: null }, []],
    [{ data: [] }, []],
    [{ data: [{ id: 'room-1' }, { type: 'rooms', id: 'room-2' }] }, ['room-1', 'room-2']],
  ])('reads a to-many relationship: %j gives %j', (input, ids) => {
    expect(parseToMany(parseBody(toManyInput('rooms'), input))).toEqual(ids);
  });

  it('reads the id of another resource from an attribute if the relationship is missing', () => {
    expect(parseToOne(undefined, 'room-1')).toBe('room-1');
    expect(parseToOne({}, null)).toBeNull();
    expect(parseToOne(undefined, '')).toBeNull();
    expect(parseToOne({ data: { id: 'room-2' } }, 'room-1')).toBe('room-2');
  });
});
