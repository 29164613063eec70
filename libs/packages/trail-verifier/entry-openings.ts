import { computeCommitment, computeLeaf } from './leaves.js';
import { appendPointer, parsePointer } from './masked-json.js';
import { decodeDigest } from './strict-base64.js';

/** What opens the leaf of an entry: its salt, and the commitments to its personal values with the salts of those values. */
export type EntryOpening = {
  readonly salt: Buffer;
  readonly commitments: Readonly<Record<string, Buffer>>;
  /** Salts by JSON pointer. A value that was erased has none. */
  readonly salts: Readonly<Record<string, Buffer>>;
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

/** Returns the opening in a JSON object. Throws RangeError if it is none. */
export const readOpening = ({ salt, commitments = {}, salts = {} }: NamedMembers): EntryOpening => {
  const opening = {
    salt: readDigest(salt, 'salt'),
    commitments: readDigests(commitments, 'commitments'),
    salts: readDigests(salts, 'salts'),
  };
  const unused = Object.keys(opening.salts).find((pointer) => !Object.hasOwn(opening.commitments, pointer));
  if (unused !== undefined) throw new RangeError(`salts: ${unused} has no commitment`);
  return opening;
};

const readDigests = (value: unknown, name: string): Readonly<Record<string, Buffer>> => {
  if (!isJsonObject(value)) throw new RangeError(`${name}: must be an object`);
  const digests: Record<string, Buffer> = {};
  for (const pointer in value) {
    // A pointer begins with a slash, so it is no name with a meaning of its own, such as __proto__.
    if (!pointer.startsWith('/'))
      throw new RangeError(`${name}: must have JSON pointers, got ${JSON.stringify(pointer)}`);
    digests[pointer] = readDigest(value[pointer], name);
  }
  return digests;
};

const readDigest = (value: unknown, name: string): Buffer => {
  const digest = typeof value === 'string' ? decodeDigest(value) : null;
  if (!digest) throw new RangeError(`${name}: must be 32 bytes in base64`);
  return digest;
};

/** The opened leaf of an entry, and the pointers of its values that were erased. */
export type VerifiedEntry = { readonly leaf: Buffer; readonly withheld: readonly string[] };

/**
 * Returns the leaf of an entry after comparing its personal values with their commitments. Throws RangeError if a value is
 * not the one of the commitment.
 */
export const openEntry = (entry: unknown, { salt, commitments, salts }: EntryOpening): VerifiedEntry => {
  const withheld: string[] = [];
  const isErased = createErasureCheck(entry, commitments);
  for (const pointer in commitments) {
    const [valueSalt, value] = [salts[pointer], readValue(entry, pointer)];
    if (!valueSalt) {
      if (!isErased(pointer, value)) throw new RangeError(`${pointer} has a value, but no salt that proves it`);
      withheld.push(pointer);
    } else if (value === undefined || !computeCommitment(valueSalt, value).equals(commitments[pointer] as Buffer)) {
      throw new RangeError(`the value of ${pointer} is not the one that was recorded`);
    }
  }
  return { leaf: computeLeaf({ salt, entry, commitments }), withheld };
};

/**
 * Returns a check whether a value can stand for one that was erased. That is null, an absent value, or the id of a person that
 * the leaf authenticates elsewhere in the entry: any other id could name a person who did nothing.
 */
const createErasureCheck = (entry: unknown, commitments: EntryOpening['commitments']) => {
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
