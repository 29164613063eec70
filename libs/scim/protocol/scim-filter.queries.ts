import { parse, type Filter } from 'scim2-parse-filter';
import { sql, type Sql } from '#kernel';
import { ScimRefusal } from './scim-refusal.js';

export const MAX_FILTER_LENGTH = 1_024;

type ComparedValue = string | number | boolean | null;

/** An attribute of a filter: its SQL expression, or a condition on the rows of a multi-valued attribute. */
export type FilterAttribute =
  | { readonly type: 'text'; readonly column: Sql; readonly caseExact?: true }
  | { readonly type: 'boolean'; readonly column: Sql }
  /** `of` returns a condition: one of the values meets the comparison of the text. */
  | { readonly type: 'texts'; readonly of: (meets: (column: Sql) => Sql) => Sql };

/** Attributes by their path in lower case, such as `emails.value`. */
export type FilterAttributes = Readonly<Record<string, FilterAttribute>>;

const refuse = (detail: string): ScimRefusal => new ScimRefusal('invalidFilter', `filter: ${detail}`);

/** Returns the SQL condition of a filter (RFC 7644 §3.4.2.2). All values are parameters of the statement. */
export const compileFilter = (text: string, attributes: FilterAttributes): Sql => {
  if (text.length > MAX_FILTER_LENGTH) throw refuse(`must have at most ${MAX_FILTER_LENGTH} characters`);
  if (text.includes('\0')) throw refuse('must not contain a NUL character');
  let parsed: Filter;
  try {
    parsed = parse(text);
  } catch (error) {
    throw refuse(`is not valid: ${error instanceof Error ? error.message.slice(0, 200) : 'unexpected text'}`);
  }
  return compile(parsed, '', attributes);
};

const compile = (filter: Filter, prefix: string, attributes: FilterAttributes): Sql => {
  switch (filter.op) {
    case 'and':
      return sql`(${sql.and(filter.filters.map((one) => compile(one, prefix, attributes)))})`;
    case 'or':
      // The negation of a conjunction of negations, because there is no helper for a disjunction.
      return sql`(not (${sql.and(filter.filters.map((one) => sql`not ${compile(one, prefix, attributes)}`))}))`;
    case 'not':
      return sql`(not ${compile(filter.filter, prefix, attributes)})`;
    case '[]':
      return compile(filter.valFilter, `${prefix}${filter.attrPath}.`, attributes);
    case 'pr':
      return compare(`${prefix}${filter.attrPath}`, 'pr', null, attributes);
    case 'eq':
    case 'ne':
    case 'co':
    case 'sw':
    case 'ew':
    case 'gt':
    case 'lt':
    case 'ge':
    case 'le':
      return compare(`${prefix}${filter.attrPath}`, filter.op, filter.compValue, attributes);
  }
};

const SCHEMA_PREFIX = /^urn:ietf:params:scim:schemas:core:2\.0:(?:user|group):/;

const compare = (path: string, op: string, value: ComparedValue, attributes: FilterAttributes): Sql => {
  const name = path.toLowerCase().replace(SCHEMA_PREFIX, '');
  const attribute = Object.hasOwn(attributes, name) ? attributes[name] : undefined;
  if (!attribute) {
    throw refuse(`the attribute ${path.slice(0, 100)} is not supported, use ${Object.keys(attributes).join(', ')}`);
  }
  if (attribute.type === 'boolean') return compareBoolean(attribute.column, op, value);
  if (attribute.type === 'texts') {
    const isNegated = op === 'ne';
    const met = attribute.of((column) => compareText(column, isNegated ? 'eq' : op, value, false));
    return isNegated ? sql`(not ${met})` : met;
  }
  return compareText(attribute.column, op, value, attribute.caseExact === true);
};

const compareBoolean = (column: Sql, op: string, value: ComparedValue): Sql => {
  if (op === 'pr') return sql`(${column} is not null)`;
  const expectedBoolean =
    typeof value === 'string' ? /^(?:true|false)$/i.exec(value)?.[0].toLowerCase() === 'true' : value;
  if (typeof expectedBoolean !== 'boolean' || (op !== 'eq' && op !== 'ne'))
    throw refuse('a boolean needs eq or ne, and a boolean');
  return sql`(${column} = ${op === 'eq' ? expectedBoolean : !expectedBoolean})`;
};

const compareText = (column: Sql, op: string, value: ComparedValue, caseExact: boolean): Sql => {
  if (op === 'pr') return sql`(${column} is not null)`;
  if (value === null && (op === 'eq' || op === 'ne')) {
    return op === 'eq' ? sql`(${column} is null)` : sql`(${column} is not null)`;
  }
  if (typeof value !== 'string') throw refuse(`${op} needs a text in double quotes`);
  if (value.includes('\0')) throw refuse('must not contain a NUL character');
  const left = caseExact ? column : sql`lower(${column})`;
  const right = caseExact ? sql`${value}::text` : sql`lower(${value}::text)`;
  switch (op) {
    case 'eq':
      return sql`(${left} is not distinct from ${right})`;
    case 'ne':
      return sql`(${left} is distinct from ${right})`;
    case 'co':
      return sql`(coalesce(position(${right} in ${left}) > 0, false))`;
    case 'sw':
      return sql`(coalesce(starts_with(${left}, ${right}), false))`;
    case 'ew':
      return sql`(coalesce(right(${left}, length(${right})) = ${right}, false))`;
    default:
      throw refuse(`the operator ${op} is not supported for texts, use eq, ne, co, sw, ew or pr`);
  }
};
