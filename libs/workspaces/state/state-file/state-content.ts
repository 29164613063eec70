import { isStorable, toTypeWord, type CtyType } from './cty-type.js';
import { compactJson, findValueEnd, getJsonKind, JsonTooDeepError, parseValue, type JsonSpan } from './json-scan.js';
import { createStateFileRefusal } from './state-fields.js';

export type StateOutput = {
  readonly name: string;
  readonly sensitive: boolean;
  readonly type: string;
  /** Null if the file does not contain it; the CLI then reads the complete state. */
  readonly detailedType: CtyType | null;
  /** JSON in UTF-8 as in the file except for white space, because numbers may exceed those of JavaScript. */
  readonly value: Uint8Array;
};

/** A resource in the file: one block for all instances from `count` or `for_each`. */
export type ResourceBlock = {
  readonly managed: boolean;
  readonly type: string;
  readonly name: string;
  readonly module: string | null;
  readonly provider: string;
  readonly indexes: readonly (string | number | null)[];
};

// Names are indexed, and one event contains all of them.
export const MAX_NAME_LENGTH = 255;
const MAX_OUTPUTS = 5_000;

export const MAX_INSTANCES = 1_000_000;

export const checkInstanceCount = (count: number, most = MAX_INSTANCES): void => {
  if (count > most) throw createStateFileRefusal(`it has more than ${MAX_INSTANCES} resource instances`);
};

// No type of Terraform nests this deep, but a manually created file may, and clients then fail to read the response.
const MAX_VALUE_DEPTH = 500;

const isShallow = (bytes: Uint8Array, { from }: JsonSpan): boolean => {
  try {
    findValueEnd(bytes, from, MAX_VALUE_DEPTH);
    return true;
  } catch (error) {
    if (error instanceof JsonTooDeepError) return false;
    throw error;
  }
};

const NULL = Buffer.from('null');

/** Rejects an invalid name of an output, and too many outputs. `count` is the number of outputs up to this name. */
export const checkOutputNames = (count: number, name: string): void => {
  if (name.length > MAX_NAME_LENGTH)
    throw createStateFileRefusal(`the name of an output is longer than ${MAX_NAME_LENGTH} characters`);
  if (!isStorable(name)) throw createStateFileRefusal('the name of an output has characters that are not allowed');
  if (count > MAX_OUTPUTS) throw createStateFileRefusal(`it has more than ${MAX_OUTPUTS} outputs`);
};

const isTrue = (bytes: Uint8Array, span: JsonSpan | undefined): boolean =>
  span !== undefined && getJsonKind(bytes, span) === 'boolean' && parseValue(bytes, span) === true;

/** Parses the value of an output. The type of the result is that of the value, for outputs that name no type. */
export const parseOutputValue = (
  bytes: Uint8Array,
  name: string,
  sensitive: JsonSpan | undefined,
  value: JsonSpan | undefined,
): StateOutput => {
  if (value && !isShallow(bytes, value)) {
    throw createStateFileRefusal(`the value of output ${JSON.stringify(name)} is nested too deep`);
  }
  return {
    name,
    sensitive: isTrue(bytes, sensitive),
    type: toTypeWord(null, value ? getJsonKind(bytes, value) : 'null'),
    detailedType: null,
    value: value ? compactJson(bytes, value) : NULL,
  };
};
