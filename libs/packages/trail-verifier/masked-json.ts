import { canonicalize, canonicalizeMembers, sortNames } from './canonical-json.js';

/** The members that a mask replaces: null for a member that becomes null, or the mask of the members below it. */
type Mask = Map<string, Mask | null>;

/**
 * Returns the canonical JSON of an entry with null at each JSON pointer. Pointers name members of objects. A member that is
 * absent becomes null. Throws RangeError for a pointer that is malformed, repeated, below another one or below a value that
 * is no object.
 */
export const canonicalizeMasked = (entry: unknown, pointers: readonly string[]): string =>
  pointers.length === 0 ? canonicalize(entry) : canonicalizeBelow(entry, findMask(pointers));

/** Returns the names of the members on the way to a value (RFC 6901). */
export const parsePointer = (pointer: string): readonly string[] =>
  findCached(parsed, pointer, () => {
    if (!/^(?:\/(?:[^~/]|~[01])*)+$/su.test(pointer)) {
      throw new RangeError(`must be a JSON pointer such as /auth/description, got ${JSON.stringify(pointer)}`);
    }
    const names = pointer.slice(1).split('/');
    return names.map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
  });

/** Returns the pointer of a member of the object at a pointer (RFC 6901). */
export const appendPointer = (parent: string, name: string): string =>
  `${parent}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;

// The entries of a trail have few different pointers, so they are parsed once.
const parsed = new Map<string, readonly string[]>();
const masks = new Map<string, Mask>();
const CACHED_MAX = 1_000;
const CACHED_LENGTH_MAX = 4_096;

const findCached = <T>(cache: Map<string, T>, name: string, create: () => T): T => {
  const value = cache.get(name);
  if (value !== undefined) return value;
  const created = create();
  if (name.length > CACHED_LENGTH_MAX) return created;
  if (cache.size >= CACHED_MAX) cache.clear();
  cache.set(name, created);
  return created;
};

const findMask = (pointers: readonly string[]): Mask =>
  findCached(masks, JSON.stringify(pointers), () => {
    const mask: Mask = new Map();
    for (const pointer of pointers) addPointer(mask, pointer);
    return mask;
  });

const addPointer = (mask: Mask, pointer: string): void => {
  const names = parsePointer(pointer);
  const last = names.at(-1) as string;
  let node = mask;
  for (const name of names.slice(0, -1)) {
    const below: Mask | null = node.has(name) ? (node.get(name) as Mask | null) : new Map();
    if (below === null) throw new RangeError(`${pointer} is below another pointer`);
    node.set(name, below);
    node = below;
  }
  if (node.has(last)) throw new RangeError(`${pointer} is repeated or above another pointer`);
  node.set(last, null);
};

const canonicalizeBelow = (value: unknown, mask: Mask): string => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new RangeError(`a pointer names ${JSON.stringify([...mask.keys()][0])} of a value that is no object`);
  }
  const members = value as Readonly<Record<string, unknown>>;
  const all = addAbsent(members, mask);
  return canonicalizeMembers(all, sortNames(Object.keys(all)), (member, name) => {
    const below = mask.get(name);
    if (below === undefined) return canonicalize(member);
    return below === null ? 'null' : canonicalizeBelow(member, below);
  });
};

/** Returns the members with null for each name of the mask that they lack. */
const addAbsent = (members: Readonly<Record<string, unknown>>, mask: Mask): Readonly<Record<string, unknown>> => {
  let all = members;
  for (const name of mask.keys()) {
    // A member of the prototype, such as `constructor`, is no member of the entry.
    if (Object.hasOwn(members, name) && members[name] !== undefined) continue;
    // One copy for all names: a copy for each takes seconds for some thousand names.
    if (all === members) all = { ...members };
    // An assignment to `__proto__` creates no member.
    Object.defineProperty(all, name, { value: null, enumerable: true, configurable: true, writable: true });
  }
  return all;
};
