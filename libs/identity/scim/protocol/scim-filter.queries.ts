import { sql, type Sql } from '#platform/kernel';
import { parseScimFilter, refuseFilter, type ComparedValue, type Comparison, type ScimFilter } from './scim-filter.js';

/** An attribute of a filter: its SQL expression, or a condition on the rows of a multi-valued attribute. */
type FilterAttribute =
  | { readonly type: 'text'; readonly column: Sql; readonly caseExact?: true }
  | { readonly type: 'boolean' | 'time'; readonly column: Sql }
  /** `of` returns a condition: one of the values meets the comparison of the text. */
  | { readonly type: 'texts'; readonly of: (meets: (column: Sql) => Sql) => Sql };

/** Attributes by their path in lower case, such as `emails.value`. */
export type FilterAttributes = Readonly<Record<string, FilterAttribute>>;

/** Returns the SQL condition of a filter (RFC 7644 §3.4.2.2). All values are parameters of the statement. */
export const compileFilter = (text: string, attributes: FilterAttributes): Sql =>
  compile(parseScimFilter(text), { prefix: '', isNegated: false, attributes });

type Compilation = {
  /** The attribute before the brackets, with a dot. */
  readonly prefix: string;
  readonly isNegated: boolean;
  readonly attributes: FilterAttributes;
};

/** Moves negations to the comparisons, so that Postgres can find rows by the indexes of their columns. */
const compile = (filter: ScimFilter, compilation: Compilation): Sql => {
  const { prefix, isNegated } = compilation;
  if ('filters' in filter) {
    const conditions = filter.filters.map((one) => compile(one, compilation));
    return sql`(${sql.join(conditions, (filter.op === 'and') === isNegated ? ' or ' : ' and ')})`;
  }
  if (filter.op === 'not') return compile(filter.filter, { ...compilation, isNegated: !isNegated });
  if (filter.op === 'in') {
    if (prefix !== '') throw refuseFilter('has brackets within brackets');
    return compile(filter.filter, { ...compilation, prefix: `${filter.path}.` });
  }
  const condition = compare(filter, compilation);
  // Null means that the row has no value, so the comparison is false.
  return isNegated ? sql`((${condition}) is not true)` : sql`(${condition})`;
};

const SCHEMA_PREFIX = /^urn:ietf:params:scim:schemas:core:2\.0:(?:user|group):/;

type Operator = Comparison | 'pr';

type ComparisonFilter = Extract<ScimFilter, { path: string; filter?: never }>;

const compare = (filter: ComparisonFilter, { prefix, attributes }: Compilation): Sql => {
  const path = `${prefix}${filter.path}`;
  const name = path.toLowerCase().replace(SCHEMA_PREFIX, '');
  const attribute = Object.hasOwn(attributes, name) ? attributes[name] : undefined;
  if (!attribute) {
    throw refuseFilter(
      `the attribute ${path.slice(0, 100)} is not supported, use ${Object.keys(attributes).join(', ')}`,
    );
  }
  const op = filter.op;
  const value = filter.op === 'pr' ? null : filter.value;
  switch (attribute.type) {
    case 'boolean':
      return compareBoolean(attribute.column, op, value);
    case 'time':
      return compareTime(attribute.column, op, value);
    case 'text':
      return compareText(attribute.column, op, value, attribute.caseExact === true);
    case 'texts': {
      const condition = attribute.of((column) => compareText(column, op === 'ne' ? 'eq' : op, value, true));
      return op === 'ne' ? sql`not ${condition}` : condition;
    }
  }
};

/** Microsoft Entra sends booleans as texts. */
const toBoolean = (value: ComparedValue): boolean | null => {
  const word = String(value).toLowerCase();
  return word === 'true' || word === 'false' ? word === 'true' : null;
};

const compareBoolean = (column: Sql, op: Operator, value: ComparedValue): Sql => {
  if (op === 'pr') return sql`${column} is not null`;
  const expected = toBoolean(value);
  if (expected === null || (op !== 'eq' && op !== 'ne')) {
    throw refuseFilter('a boolean needs eq or ne, and true or false');
  }
  return sql`${column} = ${op === 'eq' ? expected : !expected}`;
};

const ORDERS = { gt: sql.raw('>'), ge: sql.raw('>='), lt: sql.raw('<'), le: sql.raw('<=') } as const;
const TIME_ORDERS: Readonly<Partial<Record<Operator, Sql>>> = { ...ORDERS, eq: sql.raw('=') };

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/;

const compareTime = (column: Sql, op: Operator, value: ComparedValue): Sql => {
  if (op === 'pr') return sql`${column} is not null`;
  const order = TIME_ORDERS[op];
  const time = typeof value === 'string' && ISO_TIME.test(value) ? new Date(value) : null;
  if (!order || !time || Number.isNaN(time.getTime())) {
    throw refuseFilter('a time needs eq, gt, ge, lt or le, and a text such as "2026-01-31T12:00:00Z"');
  }
  return sql`${column} ${order} ${time}::timestamptz`;
};

const compareText = (column: Sql, op: Operator, value: ComparedValue, caseExact: boolean): Sql => {
  if (op === 'pr') return sql`${column} is not null`;
  if (value === null && (op === 'eq' || op === 'ne'))
    return sql`${column} is ${sql.raw(op === 'eq' ? '' : 'not')} null`;
  if (typeof value !== 'string') throw refuseFilter(`${op} needs a text in double quotes`);
  if (value.includes('\0')) throw refuseFilter('must not contain a NUL character');
  return caseExact
    ? COMPARE_TEXTS[op](column, sql`${value}::text`)
    : COMPARE_TEXTS[op](sql`lower(${column})`, sql`lower(${value}::text)`);
};

const COMPARE_TEXTS: Readonly<Record<Comparison, (left: Sql, right: Sql) => Sql>> = {
  eq: (left, right) => sql`${left} = ${right}`,
  ne: (left, right) => sql`${left} is distinct from ${right}`,
  co: (left, right) => sql`position(${right} in ${left}) > 0`,
  sw: (left, right) => sql`starts_with(${left}, ${right})`,
  ew: (left, right) => sql`right(${left}, length(${right})) = ${right}`,
  gt: (left, right) => sql`${left} ${ORDERS.gt} ${right}`,
  ge: (left, right) => sql`${left} ${ORDERS.ge} ${right}`,
  lt: (left, right) => sql`${left} ${ORDERS.lt} ${right}`,
  le: (left, right) => sql`${left} ${ORDERS.le} ${right}`,
};
