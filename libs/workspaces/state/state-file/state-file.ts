import { conflict } from '#platform/kernel';
import { isCtyType, isTypeWord, toTypeWord, type CtyType } from './cty-type.js';
import {
  checkEnd,
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
import { parseOldModules } from './old-state-file.js';
import {
  checkInstanceCount,
  checkOutputNames,
  MAX_INSTANCES,
  MAX_NAME_LENGTH,
  parseOutputValue,
  type ResourceBlock,
  type StateOutput,
} from './state-content.js';
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
 * The data that is read from a state file in format 4 (Terraform 0.12 and later, OpenTofu) or in an older format
 * (old-state-file.ts). The formats have no specification. These parts of format 4 have not changed since its
 * introduction.
 *
 * @see terraform internal/states/statefile/version4.go
 */
export type ParsedStateFile = {
  /** Version of the format, 1 to 4. */
  readonly format: number;
  readonly serial: number;
  readonly lineage: string | null;
  readonly terraformVersion: string | null;
  readonly outputs: readonly StateOutput[];
  readonly blocks: readonly ResourceBlock[];
  readonly resources: number;
  /** Number of instances of each type, by provider and by module, named as in the vendor's documents. */
  readonly providers: ResourceCounts;
  readonly modules: ResourceCounts;
};

export type ResourceCounts = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** Maximum size of the types of all outputs together, because larger ones do not fit into an event. */
const MAX_TYPES_BYTES = 512 * 1024;

type OutputSpans = {
  readonly name: string;
  readonly sensitive?: JsonSpan;
  readonly type?: JsonSpan;
  readonly value?: JsonSpan;
};

const parseOutputSpans = (bytes: Uint8Array, name: string, span: JsonSpan): OutputSpans => {
  const output = requireObject(bytes, span.from, `output ${JSON.stringify(name)}`);
  return { name, ...findMembers(bytes, output, ['sensitive', 'type', 'value']).spans };
};

const getLength = (span: JsonSpan | undefined): number => (span ? span.to - span.from : 0);

/** Parses the type; only its first word unless `isComplete` is true. */
const parseCtyType = (bytes: Uint8Array, span: JsonSpan | undefined, isComplete: boolean): unknown => {
  if (isAbsent(bytes, span)) return null;
  if (isComplete || getJsonKind(bytes, span) !== 'array')
    return getLength(span) <= MAX_TYPES_BYTES ? parseValue(bytes, span) : '';
  let first: JsonSpan | undefined;
  forEachElement(bytes, span.from, (from) => {
    const to = findValueEnd(bytes, from);
    first ??= { from, to };
    return to;
  });
  return [getLength(first) <= MAX_NAME_LENGTH && first ? parseValue(bytes, first) : ''];
};

const parseOutputs = (bytes: Uint8Array, span: JsonSpan | undefined): readonly StateOutput[] => {
  if (isAbsent(bytes, span)) return [];
  const spans = new Map<string, JsonSpan>();
  forEachMember(bytes, requireObject(bytes, span.from, 'outputs'), (name, from) => {
    const to = findValueEnd(bytes, from);
    spans.set(name, { from, to });
    return to;
  });
  for (const name of spans.keys()) checkOutputNames(spans.size, name);
  const outputs = [...spans].map(([name, value]) => parseOutputSpans(bytes, name, value));
  const areTypesComplete = outputs.reduce((sum, { type }) => sum + getLength(type), 0) <= MAX_TYPES_BYTES;
  return outputs.map(({ name, sensitive, type: typeSpan, value }) => {
    const what = `output ${JSON.stringify(name)}`;
    const type = parseCtyType(bytes, typeSpan, areTypesComplete);
    if (type !== null && !(areTypesComplete ? isCtyType(type) : isTypeWord(type))) {
      throw createStateFileRefusal(`the type of ${what} is not a valid type`);
    }
    return {
      ...parseOutputValue(bytes, name, sensitive, value),
      type: toTypeWord(type as CtyType | null, value ? getJsonKind(bytes, value) : 'null'),
      detailedType: areTypesComplete ? (type as CtyType | null) : null,
    };
  });
};

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
  // An object that is being replaced ("deposed") has the same index as its successor. They count as one instance.
  const indexes = new Set<string | number | null>();
  const list = findList(bytes, instances, 'the instances of a resource');
  if (list) {
    forEachElement(bytes, list.from, (instance) => {
      const { index, to: end } = parseIndex(bytes, instance);
      indexes.add(index);
      checkInstanceCount(indexes.size, mostInstances);
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
  // Object.fromEntries instead of assignment, because a type may be called `__proto__`.
  return Object.fromEntries([...counts].map(([name, types]) => [name, Object.fromEntries(types)]));
};

const TOP_LEVEL_MEMBERS = [
  'version',
  'serial',
  'lineage',
  'terraform_version',
  'outputs',
  'resources',
  'modules',
  'encrypted_data',
  'encryption_version',
] as const;

type TopLevelSpans = { readonly [Name in (typeof TOP_LEVEL_MEMBERS)[number]]?: JsonSpan };

const findTopLevelSpans = (bytes: Uint8Array): TopLevelSpans => {
  try {
    const from = findStart(bytes);
    // Reports invalid JSON before the wrong kind of value.
    if (getJsonKind(bytes, { from }) !== 'object') checkEnd(bytes, findValueEnd(bytes, from));
    const { spans, to } = findMembers(bytes, requireObject(bytes, from, 'it'), TOP_LEVEL_MEMBERS);
    checkEnd(bytes, to);
    return spans;
  } catch (error) {
    // The message does not contain that of the parser, which quotes the file and so may reveal secrets.
    if (error instanceof InvalidJsonError) throw createStateFileRefusal('it is not JSON');
    if (error instanceof JsonTooDeepError) throw createStateFileRefusal(`it is ${error.message}`);
    throw error;
  }
};

/** Returns whether OpenTofu has encrypted the state before the upload. Then only serial and lineage can be read. */
const isEncryptedState = (bytes: Uint8Array, top: TopLevelSpans): boolean =>
  isString(bytes, top.encrypted_data) && isString(bytes, top.encryption_version);

const NEWEST_FORMAT = 4;

const parseFormat = (bytes: Uint8Array, span: JsonSpan | undefined): number => {
  const format = parseNumber(bytes, span);
  if (format !== null && Number.isInteger(format) && format >= 1 && format <= NEWEST_FORMAT) return format;
  throw createStateFileRefusal(
    format === null ? 'it is not a state' : `its format is ${format}, only 1 to ${NEWEST_FORMAT} are supported`,
  );
};

/**
 * Parses a state file. Throws `unprocessable` with a message that quotes no content if it is not a state file. Only the
 * returned data is built in memory.
 */
export const parseStateFile = (bytes: Uint8Array): ParsedStateFile => {
  const top = findTopLevelSpans(bytes);
  const isEncrypted = isEncryptedState(bytes, top);
  const format = isEncrypted ? NEWEST_FORMAT : parseFormat(bytes, top.version);
  const { blocks, outputs } = isEncrypted ? { blocks: [], outputs: [] } : parseContent(bytes, top, format);
  return {
    format,
    serial: parseSerial(bytes, top.serial),
    lineage: parseOptionalText(bytes, top.lineage, 'lineage'),
    terraformVersion: parseOptionalText(bytes, top.terraform_version, 'terraform_version'),
    outputs,
    blocks,
    resources: blocks.reduce((sum, { managed, indexes }) => sum + (managed ? indexes.length : 0), 0),
    providers: countBy(blocks, ({ provider }) => provider),
    modules: countBy(blocks, ({ module }) => module ?? 'root'),
  };
};

/** Returns the serial and lineage of a state, and builds nothing else of it in memory. Throws as parseStateFile does. */
export const parseStateIdentity = (bytes: Uint8Array): Pick<ParsedStateFile, 'serial' | 'lineage'> => {
  const top = findTopLevelSpans(bytes);
  return {
    serial: parseSerial(bytes, top.serial),
    lineage: parseOptionalText(bytes, top.lineage, 'lineage'),
  };
};

const parseContent = (
  bytes: Uint8Array,
  top: TopLevelSpans,
  format: number,
): Pick<ParsedStateFile, 'blocks' | 'outputs'> =>
  format < NEWEST_FORMAT
    ? parseOldModules(bytes, top.modules)
    : { blocks: parseBlocks(bytes, top.resources), outputs: parseOutputs(bytes, top.outputs) };

/**
 * Returns the same state with another serial. It replaces bytes instead of parsing and writing the file, because
 * numbers of attributes may exceed those of JavaScript. The bytes must be a state that parseStateFile accepts.
 */
export const replaceSerial = (bytes: Uint8Array, serial: number): Buffer => {
  if (isEncryptedState(bytes, findTopLevelSpans(bytes))) {
    throw conflict(
      'The state and its serial are encrypted. Only a client with the encryption key can upload it with a new serial',
    );
  }
  const pieces: Uint8Array[] = [];
  let done = 0;
  forEachMember(bytes, findStart(bytes), (name, from) => {
    const to = findValueEnd(bytes, from);
    // Repeats only in manually created files.
    if (name === 'serial') {
      pieces.push(bytes.subarray(done, from), Buffer.from(String(serial)));
      done = to;
    }
    return to;
  });
  return Buffer.concat([...pieces, bytes.subarray(done)]);
};
