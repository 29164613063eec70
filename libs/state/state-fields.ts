import { unprocessable, type Refused } from '#kernel';
import { isStorable } from './cty-type.js';
import { kindOf, valueAt, type Span } from './json-scan.js';

export const refuse = (detail: string): Refused => unprocessable(`The state file cannot be read: ${detail}`);

/** Returns where an object begins. Refuses any other value, and names what was expected. */
export const objectAt = (bytes: Uint8Array, from: number, what: string): number => {
  if (kindOf(bytes, { from }) !== 'object') throw refuse(`${what} is not an object`);
  return from;
};

export const isAbsent = (bytes: Uint8Array, span: Span | undefined): span is undefined =>
  span === undefined || kindOf(bytes, span) === 'null';

export const isString = (bytes: Uint8Array, span: Span | undefined): boolean =>
  span !== undefined && kindOf(bytes, span) === 'string';

/** Null if there is none. */
export const listAt = (bytes: Uint8Array, span: Span | undefined, what: string): Span | null => {
  if (isAbsent(bytes, span)) return null;
  if (kindOf(bytes, span) !== 'array') throw refuse(`${what} is not a list`);
  return span;
};

/** Resources are listed with all of these, so that no state makes a list much longer than itself. */
const LONGEST_TEXT = 4_096;

export const textAt = (bytes: Uint8Array, span: Span | undefined, what: string): string => {
  if (!span || kindOf(bytes, span) !== 'string') throw refuse(`${what} is not a string`);
  // An escape has six bytes at most, for one character.
  const isLong = span.to - span.from > LONGEST_TEXT * 6 + 2;
  const text = isLong ? null : (valueAt(bytes, span) as string);
  if (text === null || text.length > LONGEST_TEXT) throw refuse(`${what} is longer than ${LONGEST_TEXT} characters`);
  if (!isStorable(text)) throw refuse(`${what} has characters that are not allowed`);
  return text;
};

export const optionalTextAt = (bytes: Uint8Array, span: Span | undefined, what: string): string | null =>
  isAbsent(bytes, span) ? null : textAt(bytes, span, what) || null;

const LONGEST_NUMBER = 64;

export const numberAt = (bytes: Uint8Array, span: Span | undefined): number | null =>
  span && kindOf(bytes, span) === 'number' && span.to - span.from <= LONGEST_NUMBER
    ? (valueAt(bytes, span) as number)
    : null;

export const serialAt = (bytes: Uint8Array, span: Span | undefined): number => {
  const serial = numberAt(bytes, span);
  if (serial === null || !Number.isSafeInteger(serial) || serial < 0) throw refuse('serial is not a whole number');
  return serial;
};
