import type { JsonKind } from './json-scan.js';

/**
 * A type in Terraform's state files: a word, or a list that starts with a word.
 *
 * @see https://github.com/zclconf/go-cty/blob/main/docs/json.md
 */
export type CtyType = string | readonly [string, ...unknown[]];

const PRIMITIVES: ReadonlySet<unknown> = new Set(['string', 'number', 'bool', 'dynamic']);
const CONTAINERS: ReadonlySet<unknown> = new Set(['list', 'set', 'map', 'tuple', 'object']);

// Far deeper than any configuration, and far below the limit of the stack.
const MAX_DEPTH = 100;

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Returns whether Postgres can store the text. It rejects NUL and unpaired surrogates, so events must not contain them.
 */
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

/** Returns whether the type, or its first word, is one of Terraform's words. */
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

/** Returns a type as the one word that outputs show: string, number, bool, array, object. */
export const toTypeWord = (type: CtyType | null, kind: JsonKind): string => {
  if (type === null || type === 'dynamic') return WORD_OF_KIND[kind];
  if (typeof type === 'string') return type;
  return type[0] === 'map' || type[0] === 'object' ? 'object' : 'array';
};
