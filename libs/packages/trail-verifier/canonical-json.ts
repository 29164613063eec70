/**
 * Returns the JSON of a value in the form of RFC 8785: members sorted by UTF-16 code units, no spaces, numbers and strings as
 * ECMAScript writes them. Omits members that are undefined. Throws TypeError for a number that is not finite, for a string
 * with a lone surrogate, and for a value that JSON does not have.
 */
export const canonicalize = (value: unknown): string => {
  if (typeof value === 'string') return canonicalizeString(value);
  if (value === null || typeof value === 'boolean' || Number.isFinite(value)) return JSON.stringify(value);
  if (typeof value !== 'object') throw new TypeError(`JSON has no ${typeof value === 'number' ? value : typeof value}`);
  return Array.isArray(value) ? `[${value.map(canonicalize).join()}]` : canonicalizeObject(value);
};

export const canonicalizeString = (value: string): string => {
  if (!value.isWellFormed()) throw new TypeError('A string with a lone surrogate has no canonical JSON');
  return JSON.stringify(value);
};

const canonicalizeObject = (value: object): string => {
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function')
    throw new TypeError('A value with a method toJSON is no JSON');
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  // The order of JavaScript's < is the order of UTF-16 code units.
  members.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${canonicalizeString(name)}:${canonicalize(member)}`).join()}}`;
};
