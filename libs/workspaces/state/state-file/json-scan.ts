/**
 * A range of bytes in JSON. `to` is exclusive.
 *
 * The functions of this file scan JSON in place (RFC 8259): they find where values start and end, without building
 * them. They use constant memory for any input, so the cost of a large or malicious file is proportional to its bytes.
 */
export type JsonSpan = { readonly from: number; readonly to: number };

export type JsonKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null';

/** Thrown if the bytes are not one JSON value in UTF-8. */
export class InvalidJsonError extends Error {
  constructor() {
    super('not JSON');
    this.name = 'NotJson';
  }
}

/** Thrown if a value nests deeper than the limit. */
export class JsonTooDeepError extends Error {
  constructor(readonly deepest: number) {
    super(`nested deeper than ${deepest} levels`);
    this.name = 'TooDeep';
  }
}

/** Go's decoder, and therefore Terraform, rejects deeper nesting. */
export const MAX_DEPTH = 10_000;

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const LOWER_U = 0x75;
const ZERO = 0x30;

const toByteSet = (characters: string): ReadonlySet<number> => new Set(Buffer.from(characters));
const buildByteTable = (characters: string): Uint8Array => {
  const table = new Uint8Array(256);
  for (const code of toByteSet(characters)) table[code] = 1;
  return table;
};

/** Bytes that need no escape in a string: all but control characters, quotes and backslashes. */
const PLAIN_BYTES = new Uint8Array(256).map((_, byte) => Number(byte >= 0x20 && byte !== QUOTE && byte !== BACKSLASH));
const SPACES = buildByteTable(' \t\r\n');
const DIGITS = buildByteTable('0123456789');
const HEX_DIGITS = buildByteTable('0123456789abcdefABCDEF');
const ESCAPABLE_BYTES = buildByteTable('"\\/bfnrtu');
const EXPONENTS = buildByteTable('eE');
const SIGNS = buildByteTable('+-');
const WORDS: readonly Uint8Array[] = ['true', 'false', 'null'].map((word) => Buffer.from(word));

/** Returns 0 beyond the end, which matches no table and no rule. */
const getByte = (bytes: Uint8Array, at: number): number => (at < bytes.length ? (bytes[at] as number) : 0);

const isIn = (table: Uint8Array, bytes: Uint8Array, at: number): boolean => table[getByte(bytes, at)] === 1;

// These two loops take most of the time, so they call no functions.
const skipSpace = (bytes: Uint8Array, start: number): number => {
  const end = bytes.length;
  let at = start;
  while (at < end && SPACES[bytes[at] as number] === 1) at += 1;
  return at;
};

const skipPlain = (bytes: Uint8Array, start: number): number => {
  const end = bytes.length;
  let at = start;
  while (at < end && PLAIN_BYTES[bytes[at] as number] === 1) at += 1;
  return at;
};

const endOfEscape = (bytes: Uint8Array, at: number): number => {
  if (!isIn(ESCAPABLE_BYTES, bytes, at + 1)) throw new InvalidJsonError();
  if (getByte(bytes, at + 1) !== LOWER_U) return at + 2;
  for (let digit = at + 2; digit < at + 6; digit += 1)
    if (!isIn(HEX_DIGITS, bytes, digit)) throw new InvalidJsonError();
  return at + 6;
};

const endOfString = (bytes: Uint8Array, start: number): number => {
  if (getByte(bytes, start) !== QUOTE) throw new InvalidJsonError();
  for (let at = skipPlain(bytes, start + 1); ; at = skipPlain(bytes, at)) {
    const byte = getByte(bytes, at);
    if (byte === QUOTE) return at + 1;
    // A control character or the end of the input.
    if (byte !== BACKSLASH) throw new InvalidJsonError();
    at = endOfEscape(bytes, at);
  }
};

const endOfDigits = (bytes: Uint8Array, start: number): number => {
  let at = start;
  while (isIn(DIGITS, bytes, at)) at += 1;
  if (at === start) throw new InvalidJsonError();
  return at;
};

const endOfNumber = (bytes: Uint8Array, start: number): number => {
  let at = getByte(bytes, start) === MINUS ? start + 1 : start;
  at = getByte(bytes, at) === ZERO ? at + 1 : endOfDigits(bytes, at);
  if (getByte(bytes, at) === POINT) at = endOfDigits(bytes, at + 1);
  if (!isIn(EXPONENTS, bytes, at)) return at;
  return endOfDigits(bytes, isIn(SIGNS, bytes, at + 1) ? at + 2 : at + 1);
};

const endOfWord = (bytes: Uint8Array, start: number): number => {
  const word = WORDS.find((candidate) => candidate.every((byte, n) => getByte(bytes, start + n) === byte));
  if (!word) throw new InvalidJsonError();
  return start + word.length;
};

const endOfScalar = (bytes: Uint8Array, at: number): number => {
  const byte = getByte(bytes, at);
  if (byte === QUOTE) return endOfString(bytes, at);
  return byte === MINUS || DIGITS[byte] === 1 ? endOfNumber(bytes, at) : endOfWord(bytes, at);
};

/** Returns the start of a member's value, given the start of its name. */
const endOfName = (bytes: Uint8Array, start: number): number => {
  const colon = skipSpace(bytes, endOfString(bytes, start));
  if (getByte(bytes, colon) !== COLON) throw new InvalidJsonError();
  return skipSpace(bytes, colon + 1);
};

const isOpening = (byte: number): boolean => byte === OPEN_OBJECT || byte === OPEN_LIST;

/** In ASCII, the codes of a bracket and its counterpart differ by two. */
const getClosingByte = (opening: number): number => opening + 2;

/**
 * Returns the start of the next value in a container with this closing bracket: in an object, the start after the
 * member's name.
 */
const startOfValue = (bytes: Uint8Array, at: number, closing: number): number =>
  closing === CLOSE_OBJECT ? endOfName(bytes, at) : at;

/**
 * Returns the end of the value that starts here, and checks it. Throws InvalidJsonError and JsonTooDeepError.
 *
 * It does not recurse, because the input determines the depth.
 */
export const findValueEnd = (bytes: Uint8Array, start: number, deepest = MAX_DEPTH): number => {
  if (!isOpening(getByte(bytes, start))) return endOfScalar(bytes, start);
  const open: number[] = [];
  let at = start;
  for (;;) {
    const byte = getByte(bytes, at);
    if (isOpening(byte)) {
      if (open.length === deepest) throw new JsonTooDeepError(deepest);
      const closing = getClosingByte(byte);
      open.push(closing);
      at = skipSpace(bytes, at + 1);
      if (getByte(bytes, at) !== closing) {
        at = startOfValue(bytes, at, closing);
        continue;
      }
    } else at = endOfScalar(bytes, at);
    for (;;) {
      const closing = open.at(-1);
      if (closing === undefined) return at;
      at = skipSpace(bytes, at);
      const next = getByte(bytes, at);
      at += 1;
      if (next === closing) open.pop();
      else if (next === COMMA) {
        at = startOfValue(bytes, skipSpace(bytes, at), closing);
        break;
      } else throw new InvalidJsonError();
    }
  }
};

const CHUNK_BYTES = 1024 * 1024;

/** Decodes in chunks. A string of the complete file would need one or two times the memory of the file in addition. */
const checkUtf8 = (bytes: Uint8Array): void => {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for (let from = 0; from < bytes.length;) {
    let to = Math.min(from + CHUNK_BYTES, bytes.length);
    // Moves the boundary before a character, whose later bytes are 10xxxxxx.
    while (to < bytes.length && to > from + 1 && (getByte(bytes, to) & 0xc0) === 0x80) to -= 1;
    try {
      decoder.decode(bytes.subarray(from, to));
    } catch {
      throw new InvalidJsonError();
    }
    from = to;
  }
};

const BYTE_ORDER_MARK = Buffer.from('\uFEFF');

/** Returns where the value of the document starts. Throws InvalidJsonError if the bytes are not UTF-8. */
export const findStart = (bytes: Uint8Array): number => {
  checkUtf8(bytes);
  const isMarked = BYTE_ORDER_MARK.every((byte, n) => bytes[n] === byte);
  return skipSpace(bytes, isMarked ? BYTE_ORDER_MARK.length : 0);
};

/** Throws InvalidJsonError if anything follows the value of the document, which ends here. */
export const checkEnd = (bytes: Uint8Array, to: number): void => {
  if (skipSpace(bytes, to) !== bytes.length) throw new InvalidJsonError();
};

/**
 * Returns the position of the only value of the document. Throws InvalidJsonError if there is anything else, and
 * JsonTooDeepError.
 */
export const findRoot = (bytes: Uint8Array, deepest = MAX_DEPTH): JsonSpan => {
  const from = findStart(bytes);
  const to = findValueEnd(bytes, from, deepest);
  checkEnd(bytes, to);
  return { from, to };
};

/** Returns the kind of the value that starts here, assuming that it is valid. */
export const getJsonKind = (bytes: Uint8Array, { from }: Pick<JsonSpan, 'from'>): JsonKind => {
  switch (getByte(bytes, from)) {
    case OPEN_OBJECT:
      return 'object';
    case OPEN_LIST:
      return 'array';
    case QUOTE:
      return 'string';
    case 0x74:
    case 0x66:
      return 'boolean';
    case 0x6e:
      return 'null';
    default:
      return 'number';
  }
};

/** Parses a value. Check its span first, because a large value uses much memory. */
export const parseValue = (bytes: Uint8Array, { from, to }: JsonSpan): unknown =>
  JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString());

/**
 * Visits the items between the brackets of an object or array, and returns its end. Each visit starts at an element or
 * a member's name, and returns the end of the element or value.
 */
const forEachWithin = (bytes: Uint8Array, from: number, closing: number, visit: (at: number) => number): number => {
  let at = skipSpace(bytes, from + 1);
  if (getByte(bytes, at) === closing) return at + 1;
  for (;;) {
    at = skipSpace(bytes, visit(at));
    const next = getByte(bytes, at);
    if (next === closing) return at + 1;
    if (next !== COMMA) throw new InvalidJsonError();
    at = skipSpace(bytes, at + 1);
  }
};

/**
 * Visits the members of the object that starts here, in order; names can repeat. A visit returns the end of the value,
 * for example from findValueEnd. Returns the end of the object.
 */
export const forEachMember = (
  bytes: Uint8Array,
  from: number,
  visit: (name: string, valueFrom: number) => number,
): number =>
  forEachWithin(bytes, from, CLOSE_OBJECT, (at) => {
    const name = { from: at, to: endOfString(bytes, at) };
    return visit(parseValue(bytes, name) as string, endOfName(bytes, at));
  });

/** Visits the elements of the array that starts here, as forEachMember visits members. */
export const forEachElement = (bytes: Uint8Array, from: number, visit: (from: number) => number): number =>
  forEachWithin(bytes, from, CLOSE_LIST, visit);

type Members<Name extends string> = {
  /** Of two members with the same name, the last one counts, as for every JSON parser. */
  readonly spans: { readonly [N in Name]?: JsonSpan };
  readonly to: number;
};

/** Returns the members of an object that have these names. */
export const findMembers = <Name extends string>(
  bytes: Uint8Array,
  from: number,
  names: readonly Name[],
): Members<Name> => {
  const spans: { [N in Name]?: JsonSpan } = {};
  const requested: readonly string[] = names;
  const to = forEachMember(bytes, from, (name, valueFrom) => {
    const end = findValueEnd(bytes, valueFrom);
    if (requested.includes(name)) spans[name as Name] = { from: valueFrom, to: end };
    return end;
  });
  return { spans, to };
};

/** Returns the same value without white space between tokens. */
export const compactJson = (bytes: Uint8Array, { from, to }: JsonSpan): Uint8Array => {
  const target = Buffer.allocUnsafe(to - from);
  let size = 0;
  for (let at = from; at < to;) {
    const byte = getByte(bytes, at);
    if (SPACES[byte] === 1) {
      at += 1;
      continue;
    }
    const end = byte === QUOTE ? endOfString(bytes, at) : at + 1;
    target.set(bytes.subarray(at, end), size);
    size += end - at;
    at = end;
  }
  return target.subarray(0, size);
};
