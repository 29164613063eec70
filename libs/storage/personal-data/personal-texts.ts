import type { EventContext, EventRegistry, PersonalText, RecordedEvent } from '#platform/kernel';
import { getPlaceholder } from './encrypted-texts.js';

/** The parts of an event that determine its personal texts. */
export type EventContent = Pick<RecordedEvent, 'type' | 'data' | 'stream' | 'context'>;

/** The personal texts of an event, by their path in its context and in its data. */
export type EventPersonalTexts = { readonly context: readonly PersonalText[]; readonly data: readonly PersonalText[] };

const NONE: readonly PersonalText[] = [];

const listDetailTexts = (person: string): readonly PersonalText[] => [
  { at: ['request', 'address'], person, kind: 'detail' },
  { at: ['request', 'userAgent'], person, kind: 'detail' },
];

/**
 * Tokens of teams and organizations have a name and an address too, but these belong to nobody who could be forgotten.
 */
const listContextTexts = ({ accessor: { type, id: person }, linkOf }: EventContext): readonly PersonalText[] => {
  if (type === 'users') return [{ at: ['accessor', 'name'], person, kind: 'name' }, ...listDetailTexts(person)];
  return linkOf === undefined ? NONE : listDetailTexts(linkOf);
};

/**
 * Returns the personal texts of events. It computes those of a context once for each caller, because many events have
 * the same caller.
 */
export const findPersonalTexts = (
  kinds: EventRegistry,
  events: readonly EventContent[],
): readonly EventPersonalTexts[] => {
  const textsByCaller = new Map<string, readonly PersonalText[]>();
  const inContext = (context: EventContext): readonly PersonalText[] => {
    const caller = `${context.accessor.type} ${context.accessor.id} ${context.linkOf ?? ''}`;
    const texts = textsByCaller.get(caller) ?? listContextTexts(context);
    textsByCaller.set(caller, texts);
    return texts;
  };
  return events.map((event) => ({
    context: inContext(event.context),
    data: kinds[event.type]?.personal?.(event.data as never, event) ?? NONE,
  }));
};

export const listPeople = (all: readonly EventPersonalTexts[]): ReadonlySet<string> => {
  const people = new Set(listContextPeople(all));
  for (const { data } of all) for (const { person } of data) people.add(person);
  return people;
};

/** All texts in one context belong to one person. */
export const listContextPeople = (all: readonly EventPersonalTexts[]): readonly string[] =>
  all.flatMap(({ context: [first] }) => (first ? [first.person] : []));

/** Returns the people with more than an id in the data: a name or a detail. */
export const listPeopleNamedInData = (
  events: readonly EventContent[],
  all: readonly EventPersonalTexts[],
): readonly string[] =>
  events.flatMap(({ data }, n) =>
    (all[n]?.data ?? NONE).flatMap((text) => {
      const value = getAtPath(data, text.at);
      return typeof value === 'string' && value !== getPlaceholder(text) ? [text.person] : [];
    }),
  );

/** Returns the new value of a text. */
type TextReplacer = (text: string, of: PersonalText) => string | null;

type JsonTree = Readonly<Record<string, unknown>>;

const setAtPath = (tree: JsonTree, [key, ...rest]: readonly string[], value: unknown): JsonTree =>
  key === undefined
    ? tree
    : { ...tree, [key]: rest.length === 0 ? value : setAtPath(tree[key] as JsonTree, rest, value) };

const getAtPath = (tree: unknown, path: readonly string[]): unknown =>
  path.reduce((value, key) => (value as JsonTree | undefined)?.[key], tree);

const copyWithReplacedTexts = <T>(tree: T, texts: readonly PersonalText[], by: TextReplacer): T => {
  let result = tree as JsonTree;
  for (const text of texts) {
    const before = getAtPath(result, text.at);
    // An optional text may be missing.
    if (typeof before !== 'string') continue;
    const after = by(before, text);
    if (after !== before) result = setAtPath(result, text.at, after);
  }
  return result as T;
};

/** Returns the event with each of these texts replaced; the same object if nothing changes. */
export const replaceTexts = <E extends EventContent>(event: E, texts: EventPersonalTexts, by: TextReplacer): E => {
  const context = copyWithReplacedTexts(event.context, texts.context, by);
  const data = copyWithReplacedTexts(event.data, texts.data, by);
  return context === event.context && data === event.data ? event : { ...event, context, data };
};

type MutableJsonTree = Record<string, unknown>;

const replace = (tree: unknown, texts: readonly PersonalText[], by: TextReplacer): void => {
  for (const text of texts) {
    const last = text.at.length - 1;
    let branch = tree as MutableJsonTree | undefined;
    for (let n = 0; n < last; n += 1) branch = branch?.[text.at[n] as string] as MutableJsonTree | undefined;
    const key = text.at[last] as string;
    const before = branch?.[key];
    if (branch && typeof before === 'string') branch[key] = by(before, text);
  }
};

/**
 * Replaces the texts in the event itself, for events that were just read. Copying every event would take most of the
 * time of a rebuild.
 */
export const overwriteTexts = (event: EventContent, texts: EventPersonalTexts, by: TextReplacer): void => {
  replace(event.context, texts.context, by);
  replace(event.data, texts.data, by);
};

export const forEachString = (value: unknown, see: (text: string) => void): void => {
  if (typeof value === 'string') see(value);
  else if (typeof value === 'object' && value !== null)
    for (const member of Object.values(value)) forEachString(member, see);
};

/** Returns a JSON value with every string in it replaced. */
export const mapStrings = (value: unknown, by: (text: string) => string | null): unknown => {
  if (typeof value === 'string') return by(value);
  if (Array.isArray(value)) return value.map((member) => mapStrings(member, by));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, mapStrings(member, by)]));
};
