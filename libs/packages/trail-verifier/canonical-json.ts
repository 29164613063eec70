/**
 * Returns the JSON of a value in the form of RFC 8785: members sorted by UTF-16 code units, no spaces, numbers and strings as
 * ECMAScript writes them. Omits members that are undefined. Throws TypeError for a number that is not finite, for a string
 * with a lone surrogate, and for a value that JSON does not have.
 */
export const canonicalize = (value: unknown): string => {
  if (typeof value === 'string') return canonicalizeString(value);
  if (value === null || typeof value === 'boolean' || Number.isFinite(value)) return JSON.stringify(value);
  if (typeof value !== 'object') throw new TypeError(`JSON has no ${typeof value === 'number' ? value : typeof value}`);
  if (Array.isArray(value)) return `[${value.map(canonicalize).join()}]`;
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') {
    throw new TypeError('A value with a method toJSON is no JSON');
  }
  return canonicalizeMembers(value as Readonly<Record<string, unknown>>, sortNames(Object.keys(value)), canonicalize);
};

/** Returns the JSON of an object with members in this order. Omits members that are undefined. */
export const canonicalizeMembers = (
  members: Readonly<Record<string, unknown>>,
  names: readonly string[],
  canonicalizeMember: (member: unknown, name: string) => string | null,
): string => {
  let text = '{';
  for (const name of names) {
    const member = members[name];
    const json = member === undefined ? null : canonicalizeMember(member, name);
    if (json !== null) text += `${text === '{' ? '' : ','}${canonicalizeString(name)}:${json}`;
  }
  return `${text}}`;
};

/** Strings that are their own JSON. Most are, and the test takes a quarter of the time of JSON.stringify. */
const PLAIN = /^[ !#-[\]-~]*$/;

const canonicalizeString = (value: string): string => {
  if (PLAIN.test(value)) return `"${value}"`;
  if (!value.isWellFormed()) throw new TypeError('A string with a lone surrogate has no canonical JSON');
  return JSON.stringify(value);
};

/** Sorts names in place by UTF-16 code units, which is the order of JavaScript. Most names come in order. */
export const sortNames = (names: string[]): string[] => {
  for (let index = 1; index < names.length; index += 1) {
    if ((names[index - 1] as string) > (names[index] as string)) return names.sort();
  }
  return names;
};
