import { conflict, unprocessable, type Refused } from '#kernel';
import { isCtyType, isStorable, wordOf, type CtyType } from './cty-type.js';

/**
 * What is read out of a state file, format 4 (Terraform 0.12 and later, OpenTofu). The format is not specified; these
 * are the parts that have not changed since it came. @see terraform internal/states/statefile/version4.go
 */
export type StateFile = {
  readonly serial: number;
  readonly lineage: string | null;
  readonly terraformVersion: string | null;
  readonly outputs: readonly StateOutput[];
  /** Managed resource instances, one each: `resource-count` is how many there are. */
  readonly resources: readonly StateResource[];
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
  readonly value: unknown;
};

export type StateResource = {
  readonly address: string;
  readonly type: string;
  readonly name: string;
  /** `root`, or the module's address. */
  readonly module: string;
  /** Namespace and name, such as `hashicorp/aws`. */
  readonly provider: string;
  /** The key given by `count` or `for_each`. */
  readonly index: string | null;
};

type Fields = Readonly<Record<string, unknown>>;

const refuse = (detail: string): Refused => unprocessable(`The state file cannot be read: ${detail}`);

const fieldsOf = (value: unknown, what: string): Fields => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw refuse(`${what} is not an object`);
  return value as Fields;
};

const listOf = (value: unknown, what: string): readonly unknown[] => {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw refuse(`${what} is not a list`);
  return value as readonly unknown[];
};

const textOf = (value: unknown, what: string): string => {
  if (typeof value !== 'string') throw refuse(`${what} is not a string`);
  if (!isStorable(value)) throw refuse(`${what} has characters that are not allowed`);
  return value;
};

const optionalText = (value: unknown, what: string): string | null =>
  value === undefined || value === null || value === '' ? null : textOf(value, what);

const json = (bytes: Uint8Array): Fields => {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    // Whatever the parser says would quote the file, which may hold secrets.
    throw refuse('it is not JSON');
  }
  return fieldsOf(value, 'it');
};

const serialOf = (file: Fields): number => {
  const { serial } = file;
  if (typeof serial !== 'number' || !Number.isSafeInteger(serial) || serial < 0) {
    throw refuse('serial is not a whole number');
  }
  return serial;
};

// No type of Terraform's nests like this, but a file made by hand may, and then answering with it would fail.
const DEEPEST_VALUE = 500;

const isShallow = (value: unknown, depth = 0): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (depth < DEEPEST_VALUE && Object.values(value).every((inner) => isShallow(inner, depth + 1)));

// Names are indexed, and all of them stand in one event.
const LONGEST_NAME = 255;
const MOST_OUTPUTS = 5_000;

const outputOf = (name: string, value: unknown): StateOutput => {
  if (name.length > LONGEST_NAME) throw refuse(`the name of an output is longer than ${LONGEST_NAME} characters`);
  const what = `output ${JSON.stringify(name)}`;
  const fields = fieldsOf(value, what);
  const detailedType = fields['type'] ?? null;
  if (detailedType !== null && !isCtyType(detailedType)) throw refuse(`the type of ${what} is not one`);
  const content = fields['value'] ?? null;
  if (!isShallow(content)) throw refuse(`the value of ${what} is too deep`);
  return {
    name: textOf(name, 'the name of an output'),
    sensitive: fields['sensitive'] === true,
    type: wordOf(detailedType, content),
    detailedType,
    value: content,
  };
};

type Block = {
  readonly managed: boolean;
  readonly type: string;
  readonly name: string;
  readonly module: string | null;
  readonly provider: string;
  readonly indexes: readonly (string | number | null)[];
};

const indexOf = (instance: unknown, what: string): string | number | null => {
  const index = fieldsOf(instance, what)['index_key'] ?? null;
  return typeof index === 'number' || index === null ? index : textOf(index, what);
};

const blockOf = (value: unknown): Block => {
  const fields = fieldsOf(value, 'a resource');
  const what = 'an instance of a resource';
  const indexes = listOf(fields['instances'], 'the instances of a resource').map((instance) => indexOf(instance, what));
  return {
    managed: fields['mode'] === 'managed',
    type: textOf(fields['type'], 'the type of a resource'),
    name: textOf(fields['name'], 'the name of a resource'),
    module: optionalText(fields['module'], 'the module of a resource'),
    provider: textOf(fields['provider'], 'the provider of a resource'),
    // An object that is being replaced stands beside its successor under the same index ("deposed"): one instance.
    indexes: [...new Set(indexes)],
  };
};

const PROVIDER = /provider\["([^"]+)"\]/;

/** `module.a.provider["registry.terraform.io/hashicorp/aws"].west` → `hashicorp/aws` */
const providerName = (provider: string): string =>
  (PROVIDER.exec(provider)?.[1] ?? provider).split('/').slice(-2).join('/');

const resourcesOf = ({ type, name, module, provider, indexes }: Block): StateResource[] =>
  indexes.map((index) => ({
    address: `${module === null ? '' : `${module}.`}${type}.${name}${index === null ? '' : `[${JSON.stringify(index)}]`}`,
    type,
    name,
    module: module ?? 'root',
    provider: providerName(provider),
    index: index === null ? null : String(index),
  }));

const countBy = (blocks: readonly Block[], key: (block: Block) => string): Counts => {
  const counts = new Map<string, Map<string, number>>();
  for (const block of blocks) {
    if (block.indexes.length === 0) continue;
    const types = counts.get(key(block)) ?? new Map<string, number>();
    const type = `${block.managed ? '' : 'data.'}${block.type.replaceAll('_', '-')}`;
    counts.set(key(block), types.set(type, (types.get(type) ?? 0) + block.indexes.length));
  }
  // Not by assignment: a type may be called `__proto__`.
  return Object.fromEntries([...counts].map(([name, types]) => [name, Object.fromEntries(types)]));
};

/** OpenTofu can encrypt the file before it leaves: then only the way to its serial and lineage is open to us. */
const isSealed = (file: Fields): boolean =>
  typeof file['encrypted_data'] === 'string' && typeof file['encryption_version'] === 'string';

const versionOf = (file: Fields): void => {
  const { version } = file;
  if (version === 4) return;
  throw refuse(typeof version === 'number' ? `its format is ${version}, only 4 is supported` : 'it is not a state');
};

/** Throws `unprocessable`, with a text that quotes no content, for whatever is not a state file. */
export const parseStateFile = (bytes: Uint8Array): StateFile => {
  const file = json(bytes);
  const sealed = isSealed(file);
  if (!sealed) versionOf(file);
  const blocks = sealed ? [] : listOf(file['resources'], 'resources').map(blockOf);
  const outputs = sealed ? [] : Object.entries(fieldsOf(file['outputs'] ?? {}, 'outputs'));
  if (outputs.length > MOST_OUTPUTS) throw refuse(`it has more than ${MOST_OUTPUTS} outputs`);
  return {
    serial: serialOf(file),
    lineage: optionalText(file['lineage'], 'lineage'),
    terraformVersion: optionalText(file['terraform_version'], 'terraform_version'),
    outputs: outputs.map(([name, value]) => outputOf(name, value)),
    resources: blocks.filter((block) => block.managed).flatMap(resourcesOf),
    providers: countBy(blocks, ({ provider }) => provider),
    modules: countBy(blocks, ({ module }) => module ?? 'root'),
  };
};

const bytesIn = (characters: string): ReadonlySet<number> => new Set(Buffer.from(characters));

const [QUOTE, BACKSLASH] = Buffer.from('"\\');
const OPENING = bytesIn('{[');
const CLOSING = bytesIn('}]');
const BETWEEN = bytesIn(' \t\r\n,:');

/** The next byte that means something. */
const next = (bytes: Uint8Array, start: number): number => {
  let at = start;
  while (BETWEEN.has(bytes[at] ?? 0)) at += 1;
  return at;
};

const endOfString = (bytes: Uint8Array, start: number): number => {
  let at = start + 1;
  while (bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at + 1;
};

const endOfValue = (bytes: Uint8Array, start: number): number => {
  let depth = 0;
  for (let at = start; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    // What ends a number or a word is not its own.
    if (depth === 0 && at > start && (BETWEEN.has(byte) || CLOSING.has(byte))) return at;
    if (byte === QUOTE) at = endOfString(bytes, at) - 1;
    else if (OPENING.has(byte)) depth += 1;
    else if (CLOSING.has(byte)) depth -= 1;
  }
  return bytes.length;
};

/** Where the values of `serial` stand, from and to. More than one only in files made by hand. */
const serialsIn = (bytes: Uint8Array): readonly (readonly [number, number])[] => {
  const found: [number, number][] = [];
  let at = next(bytes, bytes.findIndex((byte) => OPENING.has(byte)) + 1);
  while (bytes[at] === QUOTE) {
    const end = endOfString(bytes, at);
    const from = next(bytes, end);
    const to = endOfValue(bytes, from);
    if (JSON.parse(Buffer.from(bytes.subarray(at, end)).toString()) === 'serial') found.push([from, to]);
    at = next(bytes, to);
  }
  return found;
};

/**
 * The same state under another serial. Not parsed and written anew: numbers of attributes may be larger than JavaScript's
 * and would come back as others. The bytes are those of a state that parseStateFile has taken.
 */
export const withSerial = (bytes: Uint8Array, serial: number): Buffer => {
  if (isSealed(json(bytes))) {
    throw conflict('The state is encrypted by its owner, and its serial with it: only they can bring it back');
  }
  const pieces: Uint8Array[] = [];
  let done = 0;
  for (const [from, to] of serialsIn(bytes)) {
    pieces.push(bytes.subarray(done, from), Buffer.from(String(serial)));
    done = to;
  }
  return Buffer.concat([...pieces, bytes.subarray(done)]);
};
