import { unprocessable, type Refusal } from '#platform/kernel';
import { isStorable } from './cty-type.js';
import { getJsonKind, parseValue, type JsonSpan } from './json-scan.js';

export const createStateFileRefusal = (detail: string): Refusal =>
  unprocessable(`The state file cannot be read: ${detail}`);

/** Returns where the object starts. Refuses any other value with the name of what was expected. */
export const requireObject = (bytes: Uint8Array, from: number, what: string): number => {
  if (getJsonKind(bytes, { from }) !== 'object') throw createStateFileRefusal(`${what} is not an object`);
  return from;
};

export const isAbsent = (bytes: Uint8Array, span: JsonSpan | undefined): span is undefined =>
  span === undefined || getJsonKind(bytes, span) === 'null';

export const isString = (bytes: Uint8Array, span: JsonSpan | undefined): boolean =>
  span !== undefined && getJsonKind(bytes, span) === 'string';

export const findList = (bytes: Uint8Array, span: JsonSpan | undefined, what: string): JsonSpan | null => {
  if (isAbsent(bytes, span)) return null;
  if (getJsonKind(bytes, span) !== 'array') throw createStateFileRefusal(`${what} is not a list`);
  return span;
};

/**
 * Lists of resources repeat these texts for each instance, so the limit keeps a list from becoming much longer than its
 * state.
 */
const MAX_TEXT_LENGTH = 4_096;

export const parseText = (bytes: Uint8Array, span: JsonSpan | undefined, what: string): string => {
  if (!span || getJsonKind(bytes, span) !== 'string') throw createStateFileRefusal(`${what} is not a string`);
  // An escape has at most six bytes for one character.
  const isLong = span.to - span.from > MAX_TEXT_LENGTH * 6 + 2;
  const text = isLong ? null : (parseValue(bytes, span) as string);
  if (text === null || text.length > MAX_TEXT_LENGTH)
    throw createStateFileRefusal(`${what} is longer than ${MAX_TEXT_LENGTH} characters`);
  if (!isStorable(text)) throw createStateFileRefusal(`${what} has characters that are not allowed`);
  return text;
};

export const parseOptionalText = (bytes: Uint8Array, span: JsonSpan | undefined, what: string): string | null =>
  isAbsent(bytes, span) ? null : parseText(bytes, span, what) || null;

const MAX_NUMBER_LENGTH = 64;

export const parseNumber = (bytes: Uint8Array, span: JsonSpan | undefined): number | null =>
  span && getJsonKind(bytes, span) === 'number' && span.to - span.from <= MAX_NUMBER_LENGTH
    ? (parseValue(bytes, span) as number)
    : null;

export const parseSerial = (bytes: Uint8Array, span: JsonSpan | undefined): number => {
  const serial = parseNumber(bytes, span);
  if (serial === null || !Number.isSafeInteger(serial) || serial < 0)
    throw createStateFileRefusal('serial is not a whole number');
  return serial;
};
