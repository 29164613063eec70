import { ScimRefusal } from './scim-refusal.js';

export type ComparedValue = string | number | boolean | null;

const COMPARISONS = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'] as const;
export type Comparison = (typeof COMPARISONS)[number];

/** A filter (RFC 7644 §3.4.2.2). `in` means that one value of a multi-valued attribute matches. */
export type ScimFilter =
  | { readonly op: 'and' | 'or'; readonly filters: readonly ScimFilter[] }
  | { readonly op: 'not'; readonly filter: ScimFilter }
  | { readonly op: 'in'; readonly path: string; readonly filter: ScimFilter }
  | { readonly op: 'pr'; readonly path: string }
  | { readonly op: Comparison; readonly path: string; readonly value: ComparedValue };

export const refuseFilter = (detail: string): ScimRefusal => new ScimRefusal('invalidFilter', `filter: ${detail}`);

const MAX_FILTER_LENGTH = 1_024;

/** A text in quotes, a bracket, or a word: a path, a number or an operator. Each character starts one of them only. */
const TOKEN = /\s*("(?:[^"\\]|\\.)*"|[()[\]]|[^\s()[\]"]+)/sy;

const listTokens = (text: string): readonly string[] => {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  for (let end = 0; end < text.trimEnd().length; end = TOKEN.lastIndex) {
    const token = TOKEN.exec(text)?.[1];
    if (token === undefined) throw refuseFilter(`has a text without its second quote at character ${end + 1}`);
    tokens.push(token);
  }
  return tokens;
};

const PATH = /^[a-z$][\w$.:-]*$/i;

const MAX_DEPTH = 20;

/** Reads tokens from the first to the last. `or` binds weaker than `and`, and `and` weaker than `not`. */
class FilterReader {
  private position = 0;
  private depth = 0;

  constructor(private readonly tokens: readonly string[]) {}

  readAll(): ScimFilter {
    const filter = this.readAny();
    const rest = this.tokens[this.position];
    if (rest !== undefined) throw refuseFilter(`has ${JSON.stringify(rest.slice(0, 50))} where it should end`);
    return filter;
  }

  private readAny(): ScimFilter {
    return this.readList('or', () => this.readList('and', () => this.readOne()));
  }

  private readList(op: 'and' | 'or', read: () => ScimFilter): ScimFilter {
    const first = read();
    const filters = [first];
    while (this.takeWord(op)) filters.push(read());
    return filters.length === 1 ? first : { op, filters };
  }

  private readOne(): ScimFilter {
    if (this.takeWord('not')) return { op: 'not', filter: this.readInner(() => this.readOne()) };
    if (this.takeWord('(')) return this.readUntil(')');
    const path = this.take();
    if (!PATH.test(path)) throw refuseFilter(`has ${JSON.stringify(path.slice(0, 50))} instead of an attribute`);
    return this.takeWord('[') ? this.readValuePath(path) : this.readComparison(path);
  }

  /** Microsoft Entra compares an attribute of the matching value: `emails[type eq "work"].value eq "…"`. */
  private readValuePath(path: string): ScimFilter {
    const inner: ScimFilter = { op: 'in', path, filter: this.readUntil(']') };
    if (!this.tokens[this.position]?.startsWith('.')) return inner;
    const filter = this.readComparison(this.take().slice(1));
    return { ...inner, filter: { op: 'and', filters: [inner.filter, filter] } };
  }

  private readComparison(path: string): ScimFilter {
    const op = this.take().toLowerCase();
    if (op === 'pr') return { op, path };
    const comparison = COMPARISONS.find((one) => one === op);
    if (!comparison) {
      throw refuseFilter(
        `has ${JSON.stringify(op.slice(0, 50))} instead of an operator: ${COMPARISONS.join(', ')}, pr`,
      );
    }
    return { op: comparison, path, value: parseValue(this.take()) };
  }

  private readUntil(end: string): ScimFilter {
    const filter = this.readInner(() => this.readAny());
    if (!this.takeWord(end)) throw refuseFilter(`has no ${end} for a bracket`);
    return filter;
  }

  private readInner(read: () => ScimFilter): ScimFilter {
    this.depth += 1;
    if (this.depth > MAX_DEPTH) throw refuseFilter(`must have at most ${MAX_DEPTH} levels of brackets and not`);
    const filter = read();
    this.depth -= 1;
    return filter;
  }

  private take(): string {
    const token = this.tokens[this.position];
    if (token === undefined) throw refuseFilter('ends too early');
    this.position += 1;
    return token;
  }

  private takeWord(word: string): boolean {
    if (this.tokens[this.position]?.toLowerCase() !== word) return false;
    this.position += 1;
    return true;
  }
}

/** Values are those of JSON without objects and lists. Microsoft Entra writes `True`. */
const parseValue = (token: string): ComparedValue => {
  const text = /^(?:true|false|null)$/i.test(token) ? token.toLowerCase() : token;
  const value = parseJson(text);
  if (value === undefined || (typeof value === 'object' && value !== null)) {
    throw refuseFilter(`has ${JSON.stringify(token.slice(0, 50))} instead of a value: write texts in double quotes`);
  }
  return value as ComparedValue;
};

/** Returns undefined for a text that is not JSON. */
const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Returns the parsed filter. Throws `invalidFilter`. */
export const parseScimFilter = (text: string): ScimFilter => {
  if (text.length > MAX_FILTER_LENGTH) throw refuseFilter(`must have at most ${MAX_FILTER_LENGTH} characters`);
  if (text.includes('\0')) throw refuseFilter('must not contain a NUL character');
  return new FilterReader(listTokens(text)).readAll();
};

const isEqual = (value: unknown, expected: ComparedValue): boolean =>
  typeof value === 'string' && typeof expected === 'string'
    ? value.toLowerCase() === expected.toLowerCase()
    : (value ?? null) === expected;

/** Returns whether one value of a multi-valued attribute matches, such as a member of a group. */
export const matchesFilter = (filter: ScimFilter, value: Readonly<Record<string, unknown>>): boolean => {
  if ('filters' in filter) {
    const matches = (one: ScimFilter): boolean => matchesFilter(one, value);
    return filter.op === 'and' ? filter.filters.every(matches) : filter.filters.some(matches);
  }
  if (filter.op === 'not') return !matchesFilter(filter.filter, value);
  const present = findMember(value, filter.path);
  if (filter.op === 'pr') return (present ?? null) !== null;
  if (filter.op === 'eq' || filter.op === 'ne') return isEqual(present, filter.value) === (filter.op === 'eq');
  throw refuseFilter(`the operator ${filter.op} is not supported here, use eq, ne or pr`);
};

const findMember = (value: Readonly<Record<string, unknown>>, path: string): unknown =>
  Object.entries(value).find(([name]) => name.toLowerCase() === path.toLowerCase())?.[1];
