import { canonicalize, canonicalizeString } from './canonical-json.js';

/** The members that a mask replaces: null for a member that becomes null, or the mask of the members below it. */
type Mask = Map<string, Mask | null>;

/**
 * Returns the canonical JSON of an entry with null at each JSON pointer. Pointers name members of objects. A member that is
 * absent becomes null. Throws RangeError for a pointer that is malformed, repeated, below another one or below a value that
 * is no object.
 */
export const canonicalizeMasked = (entry: unknown, pointers: readonly string[]): string => {
  const mask: Mask = new Map();
  for (const pointer of pointers) addPointer(mask, pointer);
  return pointers.length === 0 ? canonicalize(entry) : canonicalizeBelow(entry, mask);
};

/** Returns the names of the members on the way to a value (RFC 6901). */
export const parsePointer = (pointer: string): readonly string[] => {
  if (!/^(?:\/(?:[^~/]|~[01])*)+$/su.test(pointer)) {
    throw new RangeError(`must be a JSON pointer such as /auth/description, got ${JSON.stringify(pointer)}`);
  }
  const names = pointer.slice(1).split('/');
  return names.map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
};

const addPointer = (mask: Mask, pointer: string): void => {
  const names = parsePointer(pointer);
  const last = names.at(-1) as string;
  let node = mask;
  for (const name of names.slice(0, -1)) {
    const below = node.get(name) ?? new Map<string, Mask | null>();
    if (node.get(name) === null) throw new RangeError(`${pointer} is below another pointer`);
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
  const present = Object.keys(members).filter((name) => members[name] !== undefined);
  const names = [...new Set([...present, ...mask.keys()])].toSorted((a, b) => (a < b ? -1 : 1));
  const texts = names.map((name) => {
    const below = mask.get(name);
    // A member of the prototype, such as `constructor`, is no member of the entry.
    const member = Object.hasOwn(members, name) ? members[name] : undefined;
    const text = below === null ? 'null' : below ? canonicalizeBelow(member, below) : canonicalize(member);
    return `${canonicalizeString(name)}:${text}`;
  });
  return `{${texts.join()}}`;
};
