import fc from 'fast-check';
import { describe, expect, it } from '@jest/globals';
import { Refusal } from '#platform/kernel';
import { parseFact, factSchemas, parseFacts } from './facts.body.js';
import { formatRowName, OWN_RESOURCE_TYPES, CATALOGUE_ROWS } from './facts.catalogue.js';
import { createFact, META } from '../spec.js';

const refusals = (work: () => unknown): readonly (readonly [string | undefined, string])[] => {
  try {
    work();
  } catch (error) {
    if (error instanceof Refusal) return error.problems.map(({ pointer, detail }) => [pointer, detail]);
    throw error;
  }
  return [];
};

type Change = { readonly row?: string; readonly at: string; readonly to: unknown };

/** Returns a fact with the value at a pointer replaced, or deleted if `to` is undefined. */
const changed = ({ row, at, to }: Change): object => {
  const fact = structuredClone(createFact('f1', row)) as Record<string, any>;
  const path = at.split('/').slice(1);
  const last = path.pop() ?? '';
  const parent = path.reduce((inner, key) => inner[key], fact);
  if (to === undefined) delete parent[last];
  else parent[last] = to;
  return fact;
};

/** Returns each pointer below meta at which the catalogue requires a value, with an example of that value. */
const leaves = (value: unknown, at: string): (readonly [string, unknown])[] => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [[at, value]];
  return Object.entries(value).flatMap(([key, inner]) => leaves(inner, `${at}/${key}`));
};

/** Returns values of other types than this one. */
const listOtherTypes = (value: unknown): readonly unknown[] => {
  const values = [null, 'text', 1, 1.5, true, {}, ['text']];
  return values.filter((candidate) => {
    if (typeof value === 'number') return typeof candidate !== 'number' || !Number.isInteger(candidate);
    if (Array.isArray(value)) return !Array.isArray(candidate) || typeof candidate[0] !== 'object';
    return typeof candidate !== typeof value || candidate === null;
  });
};

const required = Object.entries(META).flatMap(([row, meta]) =>
  leaves(meta, '/resource/meta')
    .filter(([at]) => !at.endsWith('/comment'))
    .map(([at, value]) => [row, at, value] as const),
);

describe('parsing a fact', () => {
  it.each(CATALOGUE_ROWS.map(formatRowName))('accepts %s unchanged', (row) => {
    const fact = createFact('f1', row);
    expect(parseFact(fact)).toEqual({ ...fact, time: '2026-11-21T10:00:00.000Z' });
  });

  it.each(required)('requires for %s the field %s with the type in the catalogue', (row, at, value) => {
    const [missing] = refusals(() => parseFact(changed({ row, at, to: undefined })));
    expect(missing?.[0]).toBe(at);
    for (const to of listOtherTypes(value)) {
      const [refusal] = refusals(() => parseFact(changed({ row, at, to })));
      expect({ to, pointer: refusal?.[0]?.startsWith(at) }).toEqual({ to, pointer: true });
    }
  });

  it.each(Object.keys(META))('rejects other fields for %s', (row) => {
    expect(refusals(() => parseFact(changed({ row, at: '/resource/meta/sneaked_in', to: 'x' })))).toEqual([
      ['/resource/meta/sneaked_in', 'Sneaked_in is not known here'],
    ]);
  });

  it.each<[Change, string, string]>([
    [{ at: '/source', to: undefined }, '/source', "Source can't be blank"],
    [{ at: '/source', to: 'two words' }, '/source', 'Must be one word, without spaces'],
    [{ at: '/id', to: '' }, '/id', 'blank'],
    [{ at: '/id', to: 7 }, '/id', 'Id must be a string'],
    [{ at: '/id', to: 'x'.repeat(201) }, '/id', 'too long'],
    [{ at: '/time', to: undefined }, '/time', "Time can't be blank"],
    [{ at: '/time', to: '21.11.2026' }, '/time', 'ISO 8601'],
    [{ at: '/time', to: '2026-02-30T00:00:00Z' }, '/time', 'ISO 8601'],
    [{ at: '/auth', to: undefined }, '/auth', "Auth can't be blank"],
    [{ at: '/auth/accessor_id', to: null }, '/auth/accessor_id', "Accessor_id can't be blank"],
    [{ at: '/auth/type', to: 'Root' }, '/auth/type', 'Type must be one of Client, Impersonated, System'],
    [{ at: '/auth/impersonator', to: 'user-1' }, '/auth/impersonator', 'Impersonator is not known here'],
    [{ at: '/request/id', to: 'req-1' }, '/request/id', 'GUID'],
    [{ at: '/resource', to: 'stack' }, '/resource', 'Resource must be an object'],
    [{ at: '/resource/id', to: undefined }, '/resource/id', "Id can't be blank"],
    [{ at: '/resource/type', to: 'polizei' }, '/resource/type', 'Type must be one of policy_check, '],
    [{ at: '/resource/action', to: 'eat' }, '/resource/action', 'Action of stack must be one of create'],
    [{ at: '/resource/type', to: 'constructor' }, '/resource/type', 'Type must be one of'],
    [{ at: '/resource/meta', to: 'none' }, '/resource/meta', 'Meta must be an object'],
    [{ at: '/resource/meta', to: { nested: {} } }, '/resource/meta/nested', 'must be a string, a number'],
    [{ at: '/resource/meta', to: { nul: '\0' } }, '/resource/meta/nul', 'cannot be stored'],
    [{ at: '/sourcce', to: 'x' }, '/sourcce', 'Sourcce is not known here'],
    [{ at: '/resource/meta', to: { big: 'x'.repeat(65_536) } }, '/', 'The fact is too large, at most 64 KiB'],
  ])('rejects %j', (change, pointer, detail) => {
    const problems = refusals(() => parseFact(changed(change)));
    expect(problems.filter(([at, words]) => at === pointer && words.includes(detail))).toHaveLength(1);
  });

  it.each([...OWN_RESOURCE_TYPES])('rejects the type %s, which belongs to Cadastre', (type) => {
    expect(refusals(() => parseFact(changed({ at: '/resource/type', to: type })))).toEqual([
      ['/resource/type', `Type ${type} belongs to Cadastre. Other services cannot report facts about it`],
    ]);
  });

  it('rejects unlimited nesting', () => {
    let meta: object = {};
    for (let depth = 0; depth < 100_000; depth += 1) meta = { meta };
    expect(refusals(() => parseFact(changed({ row: 'policy_check.passed', at: '/resource/meta', to: meta })))).toEqual([
      ['/', 'The fact is nested more than 32 levels deep'],
    ]);
  });

  it('does not require request, meta and comment, and accepts any ISO 8601 time', () => {
    const { request: _, ...fact } = createFact('f1');
    expect(parseFact({ ...fact, resource: { id: 'st-1', type: 'stack', action: 'create' } })).toMatchObject({
      request: { id: null },
      resource: { meta: null },
    });
    const { comment: __, ...rest } = META['policy_check.passed'] as { comment: null };
    expect(parseFact(createFact('f1', 'policy_check.passed', rest)).resource.meta).toEqual(META['policy_check.passed']);
    // Times outside the years that Postgres supports are moved into them.
    expect(parseFact({ ...fact, time: '0000-01-01T00:00:00+14:00' }).time).toBe('1970-01-01T00:00:00.000Z');
    expect(parseFact({ ...fact, time: '9999-12-31T23:59:59-12:00' }).time).toBe('9999-12-31T23:59:59.999Z');
  });

  it('rejects arbitrary values without any other error', () => {
    const anything = fc.anything({ withNullPrototype: false, maxDepth: 5 });
    const broken = fc
      .tuple(
        fc.constantFrom(...CATALOGUE_ROWS.map(formatRowName)),
        fc.constantFrom('source', 'time', 'auth', 'resource', 'x'),
        anything,
      )
      .map(([row, key, value]) => ({ ...createFact('f1', row), [key]: value }));
    fc.assert(
      fc.property(fc.oneof(anything, broken), (body) => {
        const json: unknown = JSON.parse(JSON.stringify(body) ?? 'null');
        refusals(() => parseFacts(json));
        refusals(() => parseFacts({ facts: json }));
        refusals(() => parseFacts({ facts: [createFact('f0'), json] }));
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('parsing a batch of facts', () => {
  it('rejects all facts and reports what is wrong with each', () => {
    const bad = changed({ row: 'policy_check.override', at: '/resource/meta/run/id', to: 7 });
    expect(refusals(() => parseFacts({ facts: [createFact('f1'), bad, { ...createFact('f3'), id: null }] }))).toEqual([
      ['/facts/1/resource/meta/run/id', 'Id must be a string'],
      ['/facts/2/id', "Id can't be blank"],
    ]);
  });

  it('accepts 1 to 1,000 facts', () => {
    const facts = Array.from({ length: 1_001 }, (_, n) => createFact(`f${n}`));
    expect(parseFacts({ facts: facts.slice(1) })).toHaveLength(1_000);
    expect(refusals(() => parseFacts({ facts }))).toEqual([['/facts', 'Facts: too many, at most 1000 of them']]);
    expect(refusals(() => parseFacts({ facts: [] }))).toEqual([['/facts', "Facts: can't be blank"]]);
    expect(refusals(() => parseFacts({ facts: [], more: 1 }))).toContainEqual(['/more', 'More is not known here']);
  });
});

describe('the schemas of facts', () => {
  it('cover each row of the catalogue and allow no other fields', () => {
    expect(Object.keys(factSchemas)).toEqual(CATALOGUE_ROWS.map(formatRowName));
    expect(factSchemas['policy_check.canceled']).toMatchObject({
      $schema: 'http://json-schema.org/draft-07/schema#',
      $id: 'urn:cadastre:fact:policy_check.canceled',
      required: ['source', 'id', 'time', 'auth', 'resource'],
      additionalProperties: false,
      properties: {
        time: { type: 'string', format: 'date-time' },
        resource: {
          properties: {
            type: { const: 'policy_check' },
            action: { const: 'canceled' },
            meta: {
              properties: { actor: { type: 'string' } },
              required: ['run', 'workspace', 'actor'],
              additionalProperties: false,
            },
          },
        },
      },
    });
  });
});
