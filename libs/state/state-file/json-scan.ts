/**
 * Reads JSON in place (RFC 8259): finds where values begin and end, and builds none of them. Memory stays the same for
 * any input, so a large or hostile file costs time in proportion to its bytes and nothing else.
 *
 * Offsets are positions of bytes; ends are exclusive.
 */
export type JsonSpan = { readonly from: number; readonly to: number };

export type JsonKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null';

/** The bytes are not one JSON value in UTF-8. */
export class InvalidJsonError extends Error {
  constructor() {
    super('not JSON');
    this.name = 'NotJson';
  }
}

/** A value nests deeper than the reader accepts. */
export class JsonTooDeepError extends Error {
  constructor(readonly deepest: number) {
    super(`nested deeper than ${deepest} levels`);
    this.name = 'TooDeep';
  }
}

/** Go's decoder, and so Terraform, rejects deeper nesting. */
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

/** Bytes that need no escape within a string: all but control characters, quotes and backslashes. */
const PLAIN_BYTES = new Uint8Array(256).map((_, byte) => Number(byte >= 0x20 && byte !== QUOTE && byte !== BACKSLASH));
const SPACES = buildByteTable(' \t\r\n');
const DIGITS = buildByteTable('0123456789');
const HEX_DIGITS = buildByteTable('0123456789abcdefABCDEF');
const ESCAPABLE_BYTES = buildByteTable('"\\/bfnrtu');
const EXPONENTS = buildByteTable('eE');
const SIGNS = buildByteTable('+-');
const WORDS: readonly Uint8Array[] = ['true', 'false', 'null'].map((word) => Buffer.from(word));

/** 0 beyond the end, which no table and no rule takes. */
const getByte = (bytes: Uint8Array, at: number): number => (at < bytes.length ? (bytes[at] as number) : 0);

const isIn = (table: Uint8Array, bytes: Uint8Array, at: number): boolean => table[getByte(bytes, at)] === 1;

// Most of the time is spent in these two loops, so they call nothing.
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
    // A control character, or the end of the input.
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
  const word = WORDS.find((known) => known.every((byte, n) => getByte(bytes, start + n) === byte));
  if (!word) throw new InvalidJsonError();
  return start + word.length;
};

const endOfScalar = (bytes: Uint8Array, at: number): number => {
  const byte = getByte(bytes, at);
  if (byte === QUOTE) return endOfString(bytes, at);
  return byte === MINUS || DIGITS[byte] === 1 ? endOfNumber(bytes, at) : endOfWord(bytes, at);
};

/** From the start of a member's name to the start of its value. */
const endOfName = (bytes: Uint8Array, start: number): number => {
  const colon = skipSpace(bytes, endOfString(bytes, start));
  if (getByte(bytes, colon) !== COLON) throw new InvalidJsonError();
  return skipSpace(bytes, colon + 1);
};

const isOpening = (byte: number): boolean => byte === OPEN_OBJECT || byte === OPEN_LIST;

/** In ASCII a bracket and its counterpart are two apart. */
const getClosingByte = (opening: number): number => opening + 2;

/** The start of the next value in a container that closes with this bracket: after the member's name in an object. */
const startOfValue = (bytes: Uint8Array, at: number, closing: number): number =>
  closing === CLOSE_OBJECT ? endOfName(bytes, at) : at;

/**
 * The end of the value that begins here, which is checked on the way. Throws InvalidJsonError and JsonTooDeepError.
 *
 * No recursion: the input decides how deep it nests.
 */
export const findValueEnd = (bytes: Uint8Array, start: number, deepest = MAX_DEPTH): number => {
  if (!isOpening(getByte(bytes, start))) return endOfScalar(bytes, start);
  /** Closing brackets that are still to come. */
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

/** Decodes piece by piece: one string of the whole file would need one or two times the file's memory in addition. */
const checkUtf8 = (bytes: Uint8Array): void => {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for (let from = 0; from < bytes.length;) {
    let to = Math.min(from + CHUNK_BYTES, bytes.length);
    // Not within a character: its later bytes are 10xxxxxx.
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

/** Returns where the document's value begins. Throws InvalidJsonError if the bytes are not UTF-8. */
export const findStart = (bytes: Uint8Array): number => {
  checkUtf8(bytes);
  const isMarked = BYTE_ORDER_MARK.every((byte, n) => bytes[n] === byte);
  return skipSpace(bytes, isMarked ? BYTE_ORDER_MARK.length : 0);
};

/** Throws InvalidJsonError where anything comes after the document's value, which ends here. */
export const checkEnd = (bytes: Uint8Array, to: number): void => {
  if (skipSpace(bytes, to) !== bytes.length) throw new InvalidJsonError();
};

/** Returns the position of the document's one value. Throws InvalidJsonError if there is anything else, and JsonTooDeepError. */
export const findRoot = (bytes: Uint8Array, deepest = MAX_DEPTH): JsonSpan => {
  const from = findStart(bytes);
  const to = findValueEnd(bytes, from, deepest);
  checkEnd(bytes, to);
  return { from, to };
};

/** The kind that the value which begins here has, if it is one. */
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

/** The value itself. For small ones: see the span first. */
export const parseValue = (bytes: Uint8Array, { from, to }: JsonSpan): unknown =>
  JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString());

/**
 * Visits the items between the brackets of an object or array, and returns its end. Each visit begins where an element
 * or a member's name does, and returns the end of the element or value.
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
 * Visits the members of the object that begins here, in their order; a name may come twice. A visit returns the end of the
 * value, for which it has read it anyway or calls findValueEnd. Returns the end of the object.
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

/** Visits the elements of the array that begins here, as forEachMember does those of an object. */
export const forEachElement = (bytes: Uint8Array, from: number, visit: (from: number) => number): number =>
  forEachWithin(bytes, from, CLOSE_LIST, visit);

type Members<Name extends string> = {
  /** If two members have the same name, the last one counts, as for every reader of JSON. */
  readonly spans: { readonly [N in Name]?: JsonSpan };
  /** The end of the object. */
  readonly to: number;
};

/** The members of an object that have these names. */
export const findMembers = <Name extends string>(
  bytes: Uint8Array,
  from: number,
  names: readonly Name[],
): Members<Name> => {
  const spans: { [N in Name]?: JsonSpan } = {};
  const wanted: readonly string[] = names;
  const to = forEachMember(bytes, from, (name, valueFrom) => {
    const end = findValueEnd(bytes, valueFrom);
    if (wanted.includes(name)) spans[name as Name] = { from: valueFrom, to: end };
    return end;
  });
  return { spans, to };
};

/** The same value without the white space between its tokens. */
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
