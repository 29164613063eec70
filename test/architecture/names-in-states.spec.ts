import { describe, expect, it } from '@jest/globals';
import type { Aggregate } from '#storage/event-store';
import { eventRegistry, moduleDefinitions } from '../../apps/modules.js';
import { context } from '../../libs/storage/event-store/spec.js';
import { fullSample } from '../docs/catalogue.js';
import { listUserPrincipals, type JsonObjectTree } from './principals.js';

// Snapshots of streams are stored. The append checks the keys of all persons whose names are in a snapshot, so that
// nobody is forgotten in between. A decider therefore lists the persons that its states name. The states of these tests
// result from events that name somebody in every possible member.

const STREAM = 'the stream';

const put = (tree: JsonObjectTree, [key = '', ...rest]: readonly string[], text: string): void => {
  if (rest.length === 0) tree[key] = text;
  else put(tree[key] as JsonObjectTree, rest, text);
};

const nameOf = (person: string): string => `name of <${person}>`;

/**
 * Returns an event with a name in every personal member. The names of the stream's own person are left out, because the
 * stream ends when the person is forgotten.
 */
const eventOf = (type: string): { readonly type: string; readonly data: unknown } => {
  const kind = eventRegistry[type];
  if (!kind) throw new Error(`no module defines the event ${type}`);
  const data = listUserPrincipals(fullSample(type, kind)) as JsonObjectTree;
  for (const { at, person } of kind.personal?.(data as never, { stream: STREAM, context }) ?? []) {
    if (person !== STREAM) put(data, at, nameOf(person));
  }
  return { type, data };
};

type Evolve = Readonly<Record<string, (data: unknown, state: unknown) => unknown>>;

const STEPS = 3;

/** Returns the states after a few such events, in any order. */
const statesOf = ({ decider }: Aggregate): readonly unknown[] => {
  const evolve = decider.evolve as unknown as Evolve;
  const events = Object.keys(evolve).map(eventOf);
  const states = new Map<string, unknown>();
  let latest: readonly unknown[] = [decider.initial];
  for (let step = 0; step < STEPS; step += 1) {
    const next = latest.flatMap((state) => events.map(({ type, data }) => evolve[type]?.(data, state)));
    const fresh = new Map(next.map((state) => [JSON.stringify(state), state]));
    latest = [...fresh].flatMap(([text, state]) => (states.has(text) ? [] : [state]));
    for (const [text, state] of fresh) states.set(text, state);
  }
  return [...states.values()];
};

const personsNamedIn = (state: unknown): readonly string[] => [
  ...new Set([...JSON.stringify(state).matchAll(/name of <([^>]*)>/g)].map(([, person]) => person as string)),
];

const aggregates = moduleDefinitions
  .flatMap((definition) => definition.aggregates)
  .map(({ prefix, decider }) => ({ prefix, people: decider.people, states: statesOf({ prefix, decider }) }));

describe('a decider', () => {
  it.each(aggregates)('lists the persons that its states name: $prefix', ({ people, states }) => {
    for (const state of states) expect(people?.(state) ?? []).toEqual(personsNamedIn(state));
  });

  it.each(aggregates)('names persons by `id`, by which their snapshots are found and erased: $prefix', ({ states }) => {
    for (const state of states) {
      const text = JSON.stringify(state);
      expect(personsNamedIn(state).filter((person) => !text.includes(`"id":"${person}"`))).toEqual([]);
    }
  });

  it('does not list a person whose name is the id, because they are forgotten', () => {
    const naming = aggregates.filter(({ states }) => states.some((state) => personsNamedIn(state).length > 0));
    expect(naming.map(({ prefix }) => prefix)).toEqual(['scu', 'ws']);
    for (const { people, states } of naming) {
      const nameless = states.map((state) => JSON.stringify(state).replaceAll(/name of <([^>]*)>/g, '$1'));
      expect(nameless.flatMap((state) => people?.(JSON.parse(state)) ?? [])).toEqual([]);
    }
  });
});
