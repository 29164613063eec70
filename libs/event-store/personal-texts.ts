import type { EventContext, EventRegistry, PersonalText, Recorded } from '#kernel';
import { placeholderOf } from './sealed-texts.js';

/** What of an event says whose its texts are. */
export type Told = Pick<Recorded, 'type' | 'data' | 'stream' | 'context'>;

/** The texts of people in an event, by where they stand in its context and in its data. */
export type Texts = { readonly context: readonly PersonalText[]; readonly data: readonly PersonalText[] };

const NONE: readonly PersonalText[] = [];

const detailsOf = (person: string): readonly PersonalText[] => [
  { at: ['request', 'address'], person, kind: 'detail' },
  { at: ['request', 'userAgent'], person, kind: 'detail' },
];

/** A token of a team or an organization has a name and an address, too; but these lead to nobody who could be forgotten. */
const ofContext = ({ accessor: { type, id: person }, linkOf }: EventContext): readonly PersonalText[] => {
  if (type === 'users') return [{ at: ['accessor', 'name'], person, kind: 'name' }, ...detailsOf(person)];
  return linkOf === undefined ? NONE : detailsOf(linkOf);
};

/** Of many events, which a few people have done. */
export const textsOf = (kinds: EventRegistry, events: readonly Told[]): readonly Texts[] => {
  const known = new Map<string, readonly PersonalText[]>();
  const inContext = (context: EventContext): readonly PersonalText[] => {
    const asked = `${context.accessor.type} ${context.accessor.id} ${context.linkOf ?? ''}`;
    const texts = known.get(asked) ?? ofContext(context);
    known.set(asked, texts);
    return texts;
  };
  return events.map((event) => ({
    context: inContext(event.context),
    data: kinds[event.type]?.personal?.(event.data as never, event) ?? NONE,
  }));
};

export const peopleIn = (all: readonly Texts[]): ReadonlySet<string> => {
  const people = new Set(whoseContexts(all));
  for (const { data } of all) for (const { person } of data) people.add(person);
  return people;
};

/** In one context all texts are of one person. */
export const whoseContexts = (all: readonly Texts[]): readonly string[] =>
  all.flatMap(({ context: [first] }) => (first ? [first.person] : []));

/** Of whom the data says more than their id: what they are called, or how they are reached. */
export const whomDataTells = (events: readonly Told[], all: readonly Texts[]): readonly string[] =>
  events.flatMap(({ data }, n) =>
    (all[n]?.data ?? NONE).flatMap((text) => {
      const told = at(data, text.at);
      return typeof told === 'string' && told !== placeholderOf(text) ? [text.person] : [];
    }),
  );

/** Says what a text becomes. */
type Replacing = (text: string, of: PersonalText) => string | null;

type Tree = Readonly<Record<string, unknown>>;

const put = (tree: Tree, [key, ...rest]: readonly string[], value: unknown): Tree =>
  key === undefined ? tree : { ...tree, [key]: rest.length === 0 ? value : put(tree[key] as Tree, rest, value) };

const at = (tree: unknown, path: readonly string[]): unknown =>
  path.reduce((value, key) => (value as Tree | undefined)?.[key], tree);

const copied = <T>(tree: T, texts: readonly PersonalText[], by: Replacing): T => {
  let whole = tree as Tree;
  for (const text of texts) {
    const before = at(whole, text.at);
    // What may be missing is not there to be sealed.
    if (typeof before !== 'string') continue;
    const after = by(before, text);
    if (after !== before) whole = put(whole, text.at, after);
  }
  return whole as T;
};

/** The event with each of these texts replaced; itself where they all stay as they are. */
export const replaced = <E extends Told>(event: E, texts: Texts, by: Replacing): E => {
  const context = copied(event.context, texts.context, by);
  const data = copied(event.data, texts.data, by);
  return context === event.context && data === event.data ? event : { ...event, context, data };
};

type Branch = Record<string, unknown>;

const replace = (tree: unknown, texts: readonly PersonalText[], by: Replacing): void => {
  for (const text of texts) {
    const last = text.at.length - 1;
    let branch = tree as Branch | undefined;
    for (let n = 0; n < last; n += 1) branch = branch?.[text.at[n] as string] as Branch | undefined;
    const key = text.at[last] as string;
    const before = branch?.[key];
    if (branch && typeof before === 'string') branch[key] = by(before, text);
  }
};

/** The same in the event itself, for who has just read it: copies of a whole log are what a rebuild would take its time for. */
export const replaceIn = (event: Told, texts: Texts, by: Replacing): void => {
  replace(event.context, texts.context, by);
  replace(event.data, texts.data, by);
};

export const eachTextIn = (value: unknown, see: (text: string) => void): void => {
  if (typeof value === 'string') see(value);
  else if (typeof value === 'object' && value !== null)
    for (const member of Object.values(value)) eachTextIn(member, see);
};

/** Of any JSON, with each text in it replaced, wherever that stands. */
export const replacedIn = (value: unknown, by: (text: string) => string | null): unknown => {
  if (typeof value === 'string') return by(value);
  if (Array.isArray(value)) return value.map((member) => replacedIn(member, by));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, replacedIn(member, by)]));
};
