import { conflict } from '#kernel';
import { isCtyType, isStorable, isTypeWord, toTypeWord, type CtyType } from './cty-type.js';
import {
  checkEnd,
  compactJson,
  forEachElement,
  forEachMember,
  findValueEnd,
  getJsonKind,
  findMembers,
  InvalidJsonError,
  findStart,
  JsonTooDeepError,
  parseValue,
  type JsonSpan,
} from './json-scan.js';

import {
  isAbsent,
  isString,
  findList,
  parseNumber,
  requireObject,
  parseOptionalText,
  createStateFileRefusal,
  parseSerial,
  parseText,
} from './state-fields.js';

/**
 * What is read out of a state file, format 4 (Terraform 0.12 and later, OpenTofu). The format is not specified; these
 * are the parts that have not changed since it came. @see terraform internal/states/statefile/version4.go
 */
export type ParsedStateFile = {
  readonly serial: number;
  readonly lineage: string | null;
  readonly terraformVersion: string | null;
  readonly outputs: readonly StateOutput[];
  readonly blocks: readonly ResourceBlock[];
  /** How many managed resource instances there are. */
  readonly resources: number;
  /** By provider and by module: how many instances of each type, as the vendor's documents name them. */
  readonly providers: ResourceCounts;
  readonly modules: ResourceCounts;
};

export type ResourceCounts = Readonly<Record<string, Readonly<Record<string, number>>>>;

export type StateOutput = {
  readonly name: string;
  readonly sensitive: boolean;
  readonly type: string;
  /** Null in files that do not tell; the CLI then reads the whole state. */
  readonly detailedType: CtyType | null;
  /** JSON in UTF-8, as the file has it but for white space: numbers may be larger than JavaScript's. */
  readonly value: Uint8Array;
};

/** A resource as the file has it: one block for all instances that `count` or `for_each` made of it. */
export type ResourceBlock = {
  readonly managed: boolean;
  readonly type: string;
  readonly name: string;
  readonly module: string | null;
  readonly provider: string;
  readonly indexes: readonly (string | number | null)[];
};

// No type of Terraform's nests like this, but a file made by hand may, and clients then fail to read the answer.
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

// Names are indexed, and all of them stand in one event.
const MAX_NAME_LENGTH = 255;
const MAX_OUTPUTS = 5_000;

/** Types of outputs are kept up to this size, all together: more fits no event. */
const MAX_TYPES_BYTES = 512 * 1024;

const NULL = Buffer.from('null');

type OutputSpans = {
  readonly name: string;
  readonly sensitive?: JsonSpan;
  readonly type?: JsonSpan;
  readonly value?: JsonSpan;
};

const parseOutputSpans = (bytes: Uint8Array, name: string, span: JsonSpan): OutputSpans => {
  if (name.length > MAX_NAME_LENGTH)
    throw createStateFileRefusal(`the name of an output is longer than ${MAX_NAME_LENGTH} characters`);
  if (!isStorable(name)) throw createStateFileRefusal('the name of an output has characters that are not allowed');
  const output = requireObject(bytes, span.from, `output ${JSON.stringify(name)}`);
  return { name, ...findMembers(bytes, output, ['sensitive', 'type', 'value']).spans };
};

const getLength = (span: JsonSpan | undefined): number => (span ? span.to - span.from : 0);

/** The type, and its first word alone where all of it is too much. */
const parseCtyType = (bytes: Uint8Array, span: JsonSpan | undefined, isKept: boolean): unknown => {
  if (isAbsent(bytes, span)) return null;
  if (isKept || getJsonKind(bytes, span) !== 'array')
    return getLength(span) <= MAX_TYPES_BYTES ? parseValue(bytes, span) : '';
  let first: JsonSpan | undefined;
  forEachElement(bytes, span.from, (from) => {
    const to = findValueEnd(bytes, from);
    first ??= { from, to };
    return to;
  });
  return [getLength(first) <= MAX_NAME_LENGTH && first ? parseValue(bytes, first) : ''];
};

const isTrue = (bytes: Uint8Array, span: JsonSpan | undefined): boolean =>
  span !== undefined && getJsonKind(bytes, span) === 'boolean' && parseValue(bytes, span) === true;

const parseOutputs = (bytes: Uint8Array, span: JsonSpan | undefined): readonly StateOutput[] => {
  if (isAbsent(bytes, span)) return [];
  const found = new Map<string, JsonSpan>();
  forEachMember(bytes, requireObject(bytes, span.from, 'outputs'), (name, from) => {
    const to = findValueEnd(bytes, from);
    found.set(name, { from, to });
    return to;
  });
  if (found.size > MAX_OUTPUTS) throw createStateFileRefusal(`it has more than ${MAX_OUTPUTS} outputs`);
  const outputs = [...found].map(([name, value]) => parseOutputSpans(bytes, name, value));
  const areTypesKept = outputs.reduce((sum, { type }) => sum + getLength(type), 0) <= MAX_TYPES_BYTES;
  return outputs.map(({ name, sensitive, type: typeSpan, value }) => {
    const what = `output ${JSON.stringify(name)}`;
    const type = parseCtyType(bytes, typeSpan, areTypesKept);
    if (type !== null && !(areTypesKept ? isCtyType(type) : isTypeWord(type))) {
      throw createStateFileRefusal(`the type of ${what} is not one`);
    }
    if (value && !isShallow(bytes, value)) throw createStateFileRefusal(`the value of ${what} is too deep`);
    return {
      name,
      sensitive: isTrue(bytes, sensitive),
      type: toTypeWord(type as CtyType | null, value ? getJsonKind(bytes, value) : 'null'),
      detailedType: areTypesKept ? (type as CtyType | null) : null,
      value: value ? compactJson(bytes, value) : NULL,
    };
  });
};

const MAX_INSTANCES = 1_000_000;

type InstanceIndex = { readonly index: string | number | null; readonly to: number };

const parseIndex = (bytes: Uint8Array, from: number): InstanceIndex => {
  const what = 'an instance of a resource';
  const { spans, to } = findMembers(bytes, requireObject(bytes, from, what), ['index_key']);
  const key = spans.index_key;
  return { index: isAbsent(bytes, key) ? null : (parseNumber(bytes, key) ?? parseText(bytes, key, what)), to };
};

const BLOCK = ['mode', 'type', 'name', 'module', 'provider', 'instances'] as const;

type ParsedBlock = { readonly block: ResourceBlock; readonly to: number };

const parseBlock = (bytes: Uint8Array, from: number, mostInstances: number): ParsedBlock => {
  const { spans, to } = findMembers(bytes, requireObject(bytes, from, 'a resource'), BLOCK);
  const { mode, type, name, module, provider, instances } = spans;
  // An object that is being replaced stands beside its successor under the same index ("deposed"): one instance.
  const indexes = new Set<string | number | null>();
  const list = findList(bytes, instances, 'the instances of a resource');
  if (list) {
    forEachElement(bytes, list.from, (instance) => {
      const { index, to: end } = parseIndex(bytes, instance);
      indexes.add(index);
      if (indexes.size > mostInstances)
        throw createStateFileRefusal(`it has more than ${MAX_INSTANCES} resource instances`);
      return end;
    });
  }
  const block = {
    managed: isString(bytes, mode) && parseText(bytes, mode, 'the mode of a resource') === 'managed',
    type: parseText(bytes, type, 'the type of a resource'),
    name: parseText(bytes, name, 'the name of a resource'),
    module: parseOptionalText(bytes, module, 'the module of a resource'),
    provider: parseText(bytes, provider, 'the provider of a resource'),
    indexes: [...indexes],
  };
  return { block, to };
};

const parseBlocks = (bytes: Uint8Array, span: JsonSpan | undefined): readonly ResourceBlock[] => {
  const blocks: ResourceBlock[] = [];
  let instances = 0;
  const list = findList(bytes, span, 'resources');
  if (list) {
    forEachElement(bytes, list.from, (element) => {
      const { block, to } = parseBlock(bytes, element, MAX_INSTANCES - instances);
      instances += block.indexes.length;
      // A block without instances counts nowhere.
      if (block.indexes.length > 0) blocks.push(block);
      return to;
    });
  }
  return blocks;
};

const countBy = (blocks: readonly ResourceBlock[], key: (block: ResourceBlock) => string): ResourceCounts => {
  const counts = new Map<string, Map<string, number>>();
  for (const block of blocks) {
    const types = counts.get(key(block)) ?? new Map<string, number>();
    const type = `${block.managed ? '' : 'data.'}${block.type.replaceAll('_', '-')}`;
    counts.set(key(block), types.set(type, (types.get(type) ?? 0) + block.indexes.length));
  }
  // Not by assignment: a type may be called `__proto__`.
  return Object.fromEntries([...counts].map(([name, types]) => [name, Object.fromEntries(types)]));
};

const TOP_LEVEL_MEMBERS = [
  'version',
  'serial',
  'lineage',
  'terraform_version',
  'outputs',
  'resources',
  'encrypted_data',
  'encryption_version',
] as const;

type TopLevelSpans = { readonly [Name in (typeof TOP_LEVEL_MEMBERS)[number]]?: JsonSpan };

const findTopLevelSpans = (bytes: Uint8Array): TopLevelSpans => {
  try {
    const from = findStart(bytes);
    // Text that is not an object may not even be JSON. The error then says so first.
    if (getJsonKind(bytes, { from }) !== 'object') checkEnd(bytes, findValueEnd(bytes, from));
    const { spans, to } = findMembers(bytes, requireObject(bytes, from, 'it'), TOP_LEVEL_MEMBERS);
    checkEnd(bytes, to);
    return spans;
  } catch (error) {
    // Does not repeat a parser's message: it would quote the file, which may contain secrets.
    if (error instanceof InvalidJsonError) throw createStateFileRefusal('it is not JSON');
    if (error instanceof JsonTooDeepError) throw createStateFileRefusal(`it is ${error.message}`);
    throw error;
  }
};

/** OpenTofu can encrypt the file before it leaves: then only the way to its serial and lineage is open to us. */
const isEncryptedState = (bytes: Uint8Array, top: TopLevelSpans): boolean =>
  isString(bytes, top.encrypted_data) && isString(bytes, top.encryption_version);

const checkVersion = (bytes: Uint8Array, span: JsonSpan | undefined): void => {
  const version = parseNumber(bytes, span);
  if (version === 4) return;
  throw createStateFileRefusal(
    version === null ? 'it is not a state' : `its format is ${version}, only 4 is supported`,
  );
};

/**
 * Throws `unprocessable`, with a text that quotes no content, for whatever is not a state file. Of the file only what is
 * returned is built in memory.
 */
export const parseStateFile = (bytes: Uint8Array): ParsedStateFile => {
  const top = findTopLevelSpans(bytes);
  const sealed = isEncryptedState(bytes, top);
  if (!sealed) checkVersion(bytes, top.version);
  const blocks = sealed ? [] : parseBlocks(bytes, top.resources);
  return {
    serial: parseSerial(bytes, top.serial),
    lineage: parseOptionalText(bytes, top.lineage, 'lineage'),
    terraformVersion: parseOptionalText(bytes, top.terraform_version, 'terraform_version'),
    outputs: sealed ? [] : parseOutputs(bytes, top.outputs),
    blocks,
    resources: blocks.reduce((sum, { managed, indexes }) => sum + (managed ? indexes.length : 0), 0),
    providers: countBy(blocks, ({ provider }) => provider),
    modules: countBy(blocks, ({ module }) => module ?? 'root'),
  };
};

/**
 * The same state under another serial. Not parsed and written again: numbers of attributes may be larger than
 * JavaScript's and would change. The bytes are those of a state that parseStateFile accepts.
 */
export const replaceSerial = (bytes: Uint8Array, serial: number): Buffer => {
  if (isEncryptedState(bytes, findTopLevelSpans(bytes))) {
    throw conflict('The state is encrypted by its owner, and its serial with it: only they can bring it back');
  }
  const pieces: Uint8Array[] = [];
  let done = 0;
  forEachMember(bytes, findStart(bytes), (name, from) => {
    const to = findValueEnd(bytes, from);
    // More than once only in files made by hand.
    if (name === 'serial') {
      pieces.push(bytes.subarray(done, from), Buffer.from(String(serial)));
      done = to;
    }
    return to;
  });
  return Buffer.concat([...pieces, bytes.subarray(done)]);
};
