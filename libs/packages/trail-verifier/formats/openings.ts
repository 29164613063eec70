import { appendPointer, parsePointer } from '../masked-json.js';
import { parseStrictJson } from '../strict-json.js';

/**
 * What opens the leaf of an entry: its salt, and the commitments to its personal values with the salts of those values. All are
 * 32 bytes in base64, of which each has one text.
 */
export type EntryOpening = {
  readonly salt: string;
  readonly commitments: Readonly<Record<string, string>>;
  /** Salts by JSON pointer. A value that was erased has none. */
  readonly salts: Readonly<Record<string, string>>;
};

/** Members that JSON objects have, by name. */
export type NamedMembers = Readonly<Record<string, unknown>>;

export const isJsonObject = (value: unknown): value is NamedMembers =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Throws RangeError unless the names have small letters only. Some readers do not distinguish `Index` from `index`. */
export const checkMemberNames = (members: NamedMembers): void => {
  for (const name in members) {
    if (!/^[a-z0-9_-]+$/.test(name)) {
      throw new RangeError(`the names of members must have small letters, got ${JSON.stringify(name.slice(0, 100))}`);
    }
  }
};

/** Returns whether a text is the base64 of 32 bytes. */
type DigestCheck = (text: string) => boolean;

/** Returns the opening in a JSON object. Throws RangeError if it is none. */
export const parseOpening = (
  { salt, commitments = {}, salts = {} }: NamedMembers,
  isDigest: DigestCheck,
): EntryOpening => {
  const opening = {
    salt: parseDigest(salt, 'salt', isDigest),
    commitments: parseDigests(commitments, 'commitments', isDigest),
    salts: parseDigests(salts, 'salts', isDigest),
  };
  for (const pointer in opening.salts) {
    if (!Object.hasOwn(opening.commitments, pointer)) throw new RangeError(`salts: ${pointer} has no commitment`);
  }
  return opening;
};

/** Entries of a trail have a few personal values. */
const DIGESTS_MAX = 1_000;

const parseDigests = (value: unknown, name: string, isDigest: DigestCheck): Readonly<Record<string, string>> => {
  if (!isJsonObject(value)) throw new RangeError(`${name}: must be an object`);
  const count = Object.keys(value).length;
  if (count > DIGESTS_MAX)
    throw new RangeError(`${name}: must have at most ${DIGESTS_MAX} JSON pointers, got ${count}`);
  for (const pointer in value) {
    // A pointer begins with a slash, so it is no name with a meaning of its own, such as __proto__.
    if (!pointer.startsWith('/'))
      throw new RangeError(`${name}: must have JSON pointers, got ${JSON.stringify(pointer)}`);
    parseDigest(value[pointer], name, isDigest);
  }
  return value as Readonly<Record<string, string>>;
};

const parseDigest = (value: unknown, name: string, isDigest: DigestCheck): string => {
  if (typeof value !== 'string' || !isDigest(value)) throw new RangeError(`${name}: must be 32 bytes in base64`);
  return value;
};

/** A value that an opening reveals. Its commitment is still to be compared with it. */
type RevealedValue = {
  readonly pointer: string;
  readonly value: unknown;
  readonly salt: string;
  readonly commitment: string;
};

/** Returns the personal values of an entry, and the pointers of those that were erased. Throws RangeError for a value without a salt. */
export const listRevealedValues = (
  entry: unknown,
  { commitments, salts }: EntryOpening,
): { readonly revealed: readonly RevealedValue[]; readonly withheld: readonly string[] } => {
  const revealed: RevealedValue[] = [];
  const withheld: string[] = [];
  const isErased = createErasureCheck(entry, commitments);
  for (const pointer in commitments) {
    const [salt, value] = [salts[pointer], readValue(entry, pointer)];
    if (salt) revealed.push({ pointer, value, salt, commitment: commitments[pointer] as string });
    else if (isErased(pointer, value)) withheld.push(pointer);
    else throw new RangeError(`${pointer} has a value, but no salt that proves it`);
  }
  return { revealed, withheld };
};

export const createWrongValueError = (pointer: string): RangeError =>
  new RangeError(`the value of ${pointer} is not the one that was recorded`);

/**
 * Returns a check whether a value can stand for one that was erased. That is null, an absent value, or the id of a person that
 * the leaf authenticates elsewhere in the entry: any other id could name a person who did nothing.
 */
const createErasureCheck = (entry: unknown, commitments: Readonly<Record<string, unknown>>) => {
  let texts: ReadonlySet<string> | null = null;
  return (pointer: string, value: unknown): boolean => {
    if (value === undefined || value === null) return true;
    if (typeof value !== 'string' || pointer.startsWith('/request/') || !IDENTIFIER.test(value)) return false;
    texts ??= listUncommittedTexts(entry, (one) => Object.hasOwn(commitments, one));
    return texts.has(value);
  };
};

const IDENTIFIER = /^[a-z]{1,16}-[A-Za-z0-9]{8,32}$/;

/** Returns the texts in an entry outside the committed values. The leaf authenticates them. */
export const listUncommittedTexts = (
  entry: unknown,
  isCommitted: (pointer: string) => boolean,
): ReadonlySet<string> => {
  const texts = new Set<string>();
  const add = (pointer: string, value: unknown): void => {
    if (typeof value === 'string') texts.add(value);
    if (typeof value !== 'object' || value === null) return;
    for (const [name, member] of Object.entries(value)) {
      const below = appendPointer(pointer, name);
      if (!isCommitted(below)) add(below, member);
    }
  };
  add('', entry);
  return texts;
};

const readValue = (entry: unknown, pointer: string): unknown => {
  let value = entry;
  for (const name of parsePointer(pointer)) {
    value = isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  }
  return value;
};

/** Parses a JSON object in bytes strictly. Throws RangeError or TypeError for others. `name` is how messages call it. */
export const parseMembers = (bytes: Uint8Array, name: string): NamedMembers => {
  const members = parseStrictJson(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  if (!isJsonObject(members)) throw new RangeError(`${name} must be a JSON object`);
  return members;
};
