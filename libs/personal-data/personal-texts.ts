import type { EventContext, EventRegistry, PersonalText, RecordedEvent } from '#kernel';
import { getPlaceholder } from './encrypted-texts.js';

/** What of an event says whose its texts are. */
export type EventContent = Pick<RecordedEvent, 'type' | 'data' | 'stream' | 'context'>;

/** The texts of people in an event, by where they stand in its context and in its data. */
export type EventPersonalTexts = { readonly context: readonly PersonalText[]; readonly data: readonly PersonalText[] };

const NONE: readonly PersonalText[] = [];

const listDetailTexts = (person: string): readonly PersonalText[] => [
  { at: ['request', 'address'], person, kind: 'detail' },
  { at: ['request', 'userAgent'], person, kind: 'detail' },
];

/** A token of a team or an organization has a name and an address, too; but these lead to nobody who could be forgotten. */
const listContextTexts = ({ accessor: { type, id: person }, linkOf }: EventContext): readonly PersonalText[] => {
  if (type === 'users') return [{ at: ['accessor', 'name'], person, kind: 'name' }, ...listDetailTexts(person)];
  return linkOf === undefined ? NONE : listDetailTexts(linkOf);
};

/** Of many events, which a few people have done. */
export const findPersonalTexts = (
  kinds: EventRegistry,
  events: readonly EventContent[],
): readonly EventPersonalTexts[] => {
  const known = new Map<string, readonly PersonalText[]>();
  const inContext = (context: EventContext): readonly PersonalText[] => {
    const asked = `${context.accessor.type} ${context.accessor.id} ${context.linkOf ?? ''}`;
    const texts = known.get(asked) ?? listContextTexts(context);
    known.set(asked, texts);
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

/** In one context all texts are of one person. */
export const listContextPeople = (all: readonly EventPersonalTexts[]): readonly string[] =>
  all.flatMap(({ context: [first] }) => (first ? [first.person] : []));

/** Of whom the data says more than their id: what they are called, or how they are reached. */
export const listPeopleNamedInData = (
  events: readonly EventContent[],
  all: readonly EventPersonalTexts[],
): readonly string[] =>
  events.flatMap(({ data }, n) =>
    (all[n]?.data ?? NONE).flatMap((text) => {
      const told = getAtPath(data, text.at);
      return typeof told === 'string' && told !== getPlaceholder(text) ? [text.person] : [];
    }),
  );

/** Says what a text becomes. */
type TextReplacer = (text: string, of: PersonalText) => string | null;

type JsonTree = Readonly<Record<string, unknown>>;

const setAtPath = (tree: JsonTree, [key, ...rest]: readonly string[], value: unknown): JsonTree =>
  key === undefined
    ? tree
    : { ...tree, [key]: rest.length === 0 ? value : setAtPath(tree[key] as JsonTree, rest, value) };

const getAtPath = (tree: unknown, path: readonly string[]): unknown =>
  path.reduce((value, key) => (value as JsonTree | undefined)?.[key], tree);

const copyWithReplacedTexts = <T>(tree: T, texts: readonly PersonalText[], by: TextReplacer): T => {
  let whole = tree as JsonTree;
  for (const text of texts) {
    const before = getAtPath(whole, text.at);
    // What may be missing is not there to be sealed.
    if (typeof before !== 'string') continue;
    const after = by(before, text);
    if (after !== before) whole = setAtPath(whole, text.at, after);
  }
  return whole as T;
};

/** The event with each of these texts replaced; itself where they all stay as they are. */
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

/** The same in the event itself, for who has just read it: copies of a whole log are what a rebuild would take its time for. */
export const replaceTextsInPlace = (event: EventContent, texts: EventPersonalTexts, by: TextReplacer): void => {
  replace(event.context, texts.context, by);
  replace(event.data, texts.data, by);
};

export const forEachString = (value: unknown, see: (text: string) => void): void => {
  if (typeof value === 'string') see(value);
  else if (typeof value === 'object' && value !== null)
    for (const member of Object.values(value)) forEachString(member, see);
};

/** Of any JSON, with each text in it replaced, wherever that stands. */
export const mapStrings = (value: unknown, by: (text: string) => string | null): unknown => {
  if (typeof value === 'string') return by(value);
  if (Array.isArray(value)) return value.map((member) => mapStrings(member, by));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, mapStrings(member, by)]));
};
