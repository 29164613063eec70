import type { EventContext, EventRegistry, PersonalText, Recorded } from '#kernel';

/** What of an event says whose its texts are. */
export type Told = Pick<Recorded, 'type' | 'data' | 'stream' | 'context'>;

/** The texts of people in an event, by where they stand in its context and in its data. */
export type Texts = { readonly context: readonly PersonalText[]; readonly data: readonly PersonalText[] };

const NONE: readonly PersonalText[] = [];

/** A token of a team or an organization has a name and an address, too; but these lead to nobody who could be forgotten. */
const ofAccessor = ({ accessor: { type, id: person } }: EventContext): readonly PersonalText[] =>
  type === 'users'
    ? [
        { at: ['accessor', 'name'], person, kind: 'name' },
        { at: ['request', 'address'], person, kind: 'detail' },
        { at: ['request', 'userAgent'], person, kind: 'detail' },
      ]
    : NONE;

/** Of many events, which a few people have done. */
export const textsOf = (kinds: EventRegistry, events: readonly Told[]): readonly Texts[] => {
  const known = new Map<string, readonly PersonalText[]>();
  const inContext = (context: EventContext): readonly PersonalText[] => {
    const asked = `${context.accessor.type} ${context.accessor.id}`;
    const texts = known.get(asked) ?? ofAccessor(context);
    known.set(asked, texts);
    return texts;
  };
  return events.map((event) => ({
    context: inContext(event.context),
    data: kinds[event.type]?.personal?.(event.data as never, event) ?? NONE,
  }));
};

export const peopleIn = (all: readonly Texts[]): ReadonlySet<string> => {
  const people = new Set<string>();
  for (const { context, data } of all) {
    // All of one accessor.
    if (context[0]) people.add(context[0].person);
    for (const { person } of data) people.add(person);
  }
  return people;
};

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
