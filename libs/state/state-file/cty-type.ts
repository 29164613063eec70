import type { JsonKind } from './json-scan.js';

/**
 * Terraform's types as its state files write them: a word, or a list that begins with one.
 * @see https://github.com/zclconf/go-cty/blob/main/docs/json.md
 */
export type CtyType = string | readonly [string, ...unknown[]];

const PRIMITIVES: ReadonlySet<unknown> = new Set(['string', 'number', 'bool', 'dynamic']);
const CONTAINERS: ReadonlySet<unknown> = new Set(['list', 'set', 'map', 'tuple', 'object']);

// Far more than any configuration nests, far less than the stack holds.
const MAX_DEPTH = 100;

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Postgres stores neither NUL nor half a surrogate pair, so neither may reach an event. */
export const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed();

export const isCtyType = (value: unknown, depth = 0): value is CtyType => {
  if (PRIMITIVES.has(value)) return true;
  if (!Array.isArray(value) || depth > MAX_DEPTH) return false;
  const [kind, inner] = value as readonly unknown[];
  const isInner = (type: unknown): boolean => isCtyType(type, depth + 1);
  switch (kind) {
    case 'list':
    case 'set':
    case 'map':
      return isInner(inner);
    case 'tuple':
      return Array.isArray(inner) && inner.every(isInner);
    case 'object':
      return isRecord(inner) && Object.entries(inner).every(([name, type]) => isStorable(name) && isInner(type));
    default:
      return false;
  }
};

/** Whether the first word of a type, or its only one, is one of Terraform's. */
export const isTypeWord = (type: unknown): boolean => {
  if (PRIMITIVES.has(type)) return true;
  return Array.isArray(type) && CONTAINERS.has(type[0]);
};

const WORD_OF_KIND: Readonly<Record<JsonKind, string>> = {
  object: 'object',
  array: 'array',
  string: 'string',
  number: 'number',
  boolean: 'bool',
  null: 'dynamic',
};

/** One word for it, as `type` of an output shows it: string, number, bool, array, object. */
export const toTypeWord = (type: CtyType | null, kind: JsonKind): string => {
  if (type === null || type === 'dynamic') return WORD_OF_KIND[kind];
  if (typeof type === 'string') return type;
  return type[0] === 'map' || type[0] === 'object' ? 'object' : 'array';
};
