const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const [ZERO, NINE, MINUS] = [0x30, 0x39, 0x2d];

/** Two decimal numbers of so many characters at most are never the same number of JavaScript. */
const DISTINCT_LENGTH = 15;

const DEPTH_MAX = 500;

/**
 * Parses JSON that all readers understand alike. Throws RangeError for a member that occurs twice, for a number that JavaScript
 * cannot represent, and for deep nesting: other readers could see other values than those that are verified.
 */
export const parseStrictJson = (text: string): unknown => {
  const value = parseJson(text);
  if (countMembers(value, 0) !== countColons(text)) throw new RangeError('a member occurs twice');
  return value;
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // The message of JSON.parse quotes the text.
    throw new RangeError('must be JSON');
  }
};

/** JSON.parse keeps the last of several members with one name, so the text then has more colons than members remain. */
const countMembers = (value: unknown, depth: number): number => {
  if (typeof value !== 'object' || value === null) return 0;
  if (depth > DEPTH_MAX) throw new RangeError(`is nested deeper than ${DEPTH_MAX} levels`);
  let count = 0;
  if (Array.isArray(value)) {
    for (const member of value as readonly unknown[]) count += countMembers(member, depth + 1);
    return count;
  }
  const members = value as Readonly<Record<string, unknown>>;
  // The prototype of parsed JSON has no members that can be enumerated.
  for (const name in members) count += 1 + countMembers(members[name], depth + 1);
  return count;
};

/** Returns how many colons are outside of strings, and checks the numbers. The text is valid JSON. */
const countColons = (text: string): number => {
  let count = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) index = findStringEnd(text, index);
    else if (code === COLON) count += 1;
    else if (code === MINUS || (code >= ZERO && code <= NINE)) index = checkNumber(text, index);
  }
  return count;
};

const findStringEnd = (text: string, start: number): number => {
  for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
};

const NUMBER_CHARACTER = /[^-+.\deE]/g;

/** Returns the index of the last character of a number. */
const checkNumber = (text: string, start: number): number => {
  NUMBER_CHARACTER.lastIndex = start;
  const end = NUMBER_CHARACTER.exec(text)?.index ?? text.length;
  const number = text.slice(start, end);
  if (number.length > DISTINCT_LENGTH && String(Number(number)) !== number) {
    throw new RangeError(`has the number ${number.slice(0, 100)}, which JavaScript cannot represent`);
  }
  return end - 1;
};
