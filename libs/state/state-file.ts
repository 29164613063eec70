import { conflict } from '#kernel';
import { isCtyType, isStorable, isTypeWord, wordOf, type CtyType } from './cty-type.js';
import {
  checkEnd,
  compacted,
  eachElement,
  eachMember,
  endOfValue,
  kindOf,
  membersOf,
  NotJson,
  startOf,
  TooDeep,
  valueAt,
  type Span,
} from './json-scan.js';

import {
  isAbsent,
  isString,
  listAt,
  numberAt,
  objectAt,
  optionalTextAt,
  refuse,
  serialAt,
  textAt,
} from './state-fields.js';

/**
 * What is read out of a state file, format 4 (Terraform 0.12 and later, OpenTofu). The format is not specified; these
 * are the parts that have not changed since it came. @see terraform internal/states/statefile/version4.go
 */
export type StateFile = {
  readonly serial: number;
  readonly lineage: string | null;
  readonly terraformVersion: string | null;
  readonly outputs: readonly StateOutput[];
  readonly blocks: readonly ResourceBlock[];
  /** How many managed resource instances there are. */
  readonly resources: number;
  /** By provider and by module: how many instances of each type, as the vendor's documents name them. */
  readonly providers: Counts;
  readonly modules: Counts;
};

export type Counts = Readonly<Record<string, Readonly<Record<string, number>>>>;

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
const DEEPEST_VALUE = 500;

const isShallow = (bytes: Uint8Array, { from }: Span): boolean => {
  try {
    endOfValue(bytes, from, DEEPEST_VALUE);
    return true;
  } catch (error) {
    if (error instanceof TooDeep) return false;
    throw error;
  }
};

// Names are indexed, and all of them stand in one event.
const LONGEST_NAME = 255;
const MOST_OUTPUTS = 5_000;

/** Types of outputs are kept up to this size, all together: more fits no event. */
const LARGEST_TYPES = 512 * 1024;

const NULL = Buffer.from('null');

type OutputSpans = { readonly name: string; readonly sensitive?: Span; readonly type?: Span; readonly value?: Span };

const outputAt = (bytes: Uint8Array, name: string, span: Span): OutputSpans => {
  if (name.length > LONGEST_NAME) throw refuse(`the name of an output is longer than ${LONGEST_NAME} characters`);
  if (!isStorable(name)) throw refuse('the name of an output has characters that are not allowed');
  const output = objectAt(bytes, span.from, `output ${JSON.stringify(name)}`);
  return { name, ...membersOf(bytes, output, ['sensitive', 'type', 'value']).spans };
};

const lengthOf = (span: Span | undefined): number => (span ? span.to - span.from : 0);

/** The type, and its first word alone where all of it is too much. */
const typeAt = (bytes: Uint8Array, span: Span | undefined, isKept: boolean): unknown => {
  if (isAbsent(bytes, span)) return null;
  if (isKept || kindOf(bytes, span) !== 'array') return lengthOf(span) <= LARGEST_TYPES ? valueAt(bytes, span) : '';
  let first: Span | undefined;
  eachElement(bytes, span.from, (from) => {
    const to = endOfValue(bytes, from);
    first ??= { from, to };
    return to;
  });
  return [lengthOf(first) <= LONGEST_NAME && first ? valueAt(bytes, first) : ''];
};

const isTrue = (bytes: Uint8Array, span: Span | undefined): boolean =>
  span !== undefined && kindOf(bytes, span) === 'boolean' && valueAt(bytes, span) === true;

const outputsAt = (bytes: Uint8Array, span: Span | undefined): readonly StateOutput[] => {
  if (isAbsent(bytes, span)) return [];
  const found = new Map<string, Span>();
  eachMember(bytes, objectAt(bytes, span.from, 'outputs'), (name, from) => {
    const to = endOfValue(bytes, from);
    found.set(name, { from, to });
    return to;
  });
  if (found.size > MOST_OUTPUTS) throw refuse(`it has more than ${MOST_OUTPUTS} outputs`);
  const outputs = [...found].map(([name, value]) => outputAt(bytes, name, value));
  const areTypesKept = outputs.reduce((sum, { type }) => sum + lengthOf(type), 0) <= LARGEST_TYPES;
  return outputs.map(({ name, sensitive, type: typeSpan, value }) => {
    const what = `output ${JSON.stringify(name)}`;
    const type = typeAt(bytes, typeSpan, areTypesKept);
    if (type !== null && !(areTypesKept ? isCtyType(type) : isTypeWord(type))) {
      throw refuse(`the type of ${what} is not one`);
    }
    if (value && !isShallow(bytes, value)) throw refuse(`the value of ${what} is too deep`);
    return {
      name,
      sensitive: isTrue(bytes, sensitive),
      type: wordOf(type as CtyType | null, value ? kindOf(bytes, value) : 'null'),
      detailedType: areTypesKept ? (type as CtyType | null) : null,
      value: value ? compacted(bytes, value) : NULL,
    };
  });
};

const MOST_INSTANCES = 1_000_000;

type Index = { readonly index: string | number | null; readonly to: number };

const indexAt = (bytes: Uint8Array, from: number): Index => {
  const what = 'an instance of a resource';
  const { spans, to } = membersOf(bytes, objectAt(bytes, from, what), ['index_key']);
  const key = spans.index_key;
  return { index: isAbsent(bytes, key) ? null : (numberAt(bytes, key) ?? textAt(bytes, key, what)), to };
};

const BLOCK = ['mode', 'type', 'name', 'module', 'provider', 'instances'] as const;

type Block = { readonly block: ResourceBlock; readonly to: number };

const blockAt = (bytes: Uint8Array, from: number, mostInstances: number): Block => {
  const { spans, to } = membersOf(bytes, objectAt(bytes, from, 'a resource'), BLOCK);
  const { mode, type, name, module, provider, instances } = spans;
  // An object that is being replaced stands beside its successor under the same index ("deposed"): one instance.
  const indexes = new Set<string | number | null>();
  const list = listAt(bytes, instances, 'the instances of a resource');
  if (list) {
    eachElement(bytes, list.from, (instance) => {
      const { index, to: end } = indexAt(bytes, instance);
      indexes.add(index);
      if (indexes.size > mostInstances) throw refuse(`it has more than ${MOST_INSTANCES} resource instances`);
      return end;
    });
  }
  const block = {
    managed: isString(bytes, mode) && textAt(bytes, mode, 'the mode of a resource') === 'managed',
    type: textAt(bytes, type, 'the type of a resource'),
    name: textAt(bytes, name, 'the name of a resource'),
    module: optionalTextAt(bytes, module, 'the module of a resource'),
    provider: textAt(bytes, provider, 'the provider of a resource'),
    indexes: [...indexes],
  };
  return { block, to };
};

const blocksAt = (bytes: Uint8Array, span: Span | undefined): readonly ResourceBlock[] => {
  const blocks: ResourceBlock[] = [];
  let instances = 0;
  const list = listAt(bytes, span, 'resources');
  if (list) {
    eachElement(bytes, list.from, (element) => {
      const { block, to } = blockAt(bytes, element, MOST_INSTANCES - instances);
      instances += block.indexes.length;
      // A block without instances counts nowhere.
      if (block.indexes.length > 0) blocks.push(block);
      return to;
    });
  }
  return blocks;
};

const countBy = (blocks: readonly ResourceBlock[], key: (block: ResourceBlock) => string): Counts => {
  const counts = new Map<string, Map<string, number>>();
  for (const block of blocks) {
    const types = counts.get(key(block)) ?? new Map<string, number>();
    const type = `${block.managed ? '' : 'data.'}${block.type.replaceAll('_', '-')}`;
    counts.set(key(block), types.set(type, (types.get(type) ?? 0) + block.indexes.length));
  }
  // Not by assignment: a type may be called `__proto__`.
  return Object.fromEntries([...counts].map(([name, types]) => [name, Object.fromEntries(types)]));
};

const TOP = [
  'version',
  'serial',
  'lineage',
  'terraform_version',
  'outputs',
  'resources',
  'encrypted_data',
  'encryption_version',
] as const;

type Top = { readonly [Name in (typeof TOP)[number]]?: Span };

const topOf = (bytes: Uint8Array): Top => {
  try {
    const from = startOf(bytes);
    // Text that is not an object may not even be JSON. The error then says so first.
    if (kindOf(bytes, { from }) !== 'object') checkEnd(bytes, endOfValue(bytes, from));
    const { spans, to } = membersOf(bytes, objectAt(bytes, from, 'it'), TOP);
    checkEnd(bytes, to);
    return spans;
  } catch (error) {
    // Does not repeat a parser's message: it would quote the file, which may contain secrets.
    if (error instanceof NotJson) throw refuse('it is not JSON');
    if (error instanceof TooDeep) throw refuse(`it is ${error.message}`);
    throw error;
  }
};

/** OpenTofu can encrypt the file before it leaves: then only the way to its serial and lineage is open to us. */
const isSealed = (bytes: Uint8Array, top: Top): boolean =>
  isString(bytes, top.encrypted_data) && isString(bytes, top.encryption_version);

const checkVersion = (bytes: Uint8Array, span: Span | undefined): void => {
  const version = numberAt(bytes, span);
  if (version === 4) return;
  throw refuse(version === null ? 'it is not a state' : `its format is ${version}, only 4 is supported`);
};

/**
 * Throws `unprocessable`, with a text that quotes no content, for whatever is not a state file. Of the file only what is
 * returned is built in memory.
 */
export const parseStateFile = (bytes: Uint8Array): StateFile => {
  const top = topOf(bytes);
  const sealed = isSealed(bytes, top);
  if (!sealed) checkVersion(bytes, top.version);
  const blocks = sealed ? [] : blocksAt(bytes, top.resources);
  return {
    serial: serialAt(bytes, top.serial),
    lineage: optionalTextAt(bytes, top.lineage, 'lineage'),
    terraformVersion: optionalTextAt(bytes, top.terraform_version, 'terraform_version'),
    outputs: sealed ? [] : outputsAt(bytes, top.outputs),
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
export const withSerial = (bytes: Uint8Array, serial: number): Buffer => {
  if (isSealed(bytes, topOf(bytes))) {
    throw conflict('The state is encrypted by its owner, and its serial with it: only they can bring it back');
  }
  const pieces: Uint8Array[] = [];
  let done = 0;
  eachMember(bytes, startOf(bytes), (name, from) => {
    const to = endOfValue(bytes, from);
    // More than once only in files made by hand.
    if (name === 'serial') {
      pieces.push(bytes.subarray(done, from), Buffer.from(String(serial)));
      done = to;
    }
    return to;
  });
  return Buffer.concat([...pieces, bytes.subarray(done)]);
};
