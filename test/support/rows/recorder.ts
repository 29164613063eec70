import { writeFileSync } from 'node:fs';
import { findSourceMap } from 'node:module';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rowCasts, type DatabaseRow } from '#platform/postgres';
import { PipelinedQuery } from '../../../libs/platform/postgres/pipelined-query.js';
import { BUILD } from '../folders.js';
import { addTo, addValue, createShape, type ValueShape, type ValueKind } from './shape.js';

/** The columns of a result, as Postgres describes them before the first row. */
type Field = {
  readonly name: string;
  readonly dataTypeID: number;
  readonly tableID: number;
  readonly columnID: number;
};

/** The rows that the code received at one call site, `libs/runs/runs/runs/runs.queries.ts:107`, by call site. */
export type RecordedRows = Record<string, ValueShape>;

const recorded: RecordedRows = {};

/** Returns the shape of the rows that the code has received at a call site. */
export const getRecordedRows = (): Readonly<RecordedRows> => recorded;

/** The files that pass rows on, so the call site is in their caller. */
const PASSING = [
  'libs/platform/postgres/database.js',
  'libs/platform/postgres/database-row.js',
  'libs/storage/event-store/writes.js',
  'libs/api/json-api/related-resources.js',
];

const KINDS: Readonly<Record<number, ValueKind>> = {
  16: 'boolean', // bool
  17: 'bytes', // bytea
  19: 'string', // name
  20: 'number', // int8
  21: 'number', // int2
  23: 'number', // int4
  25: 'string', // text
  26: 'number', // oid
  700: 'number', // float4
  701: 'number', // float8
  1003: 'array', // name[]
  1007: 'array', // int4[]
  1009: 'array', // text[]
  1016: 'array', // int8[]
  1022: 'array', // float8[]
  1043: 'string', // varchar
  1184: 'string', // timestamptz
  1700: 'string', // numeric
  2278: 'string', // void
  2950: 'string', // uuid
  5069: 'string', // xid8
};

/** json and jsonb: their values show what they contain. */
const JSON_TYPES = [114, 3802];

const fieldsOfRows = new WeakMap<readonly DatabaseRow[], readonly Field[]>();

/** The members of PipelinedQuery that are private to TypeScript only. */
type QueryInternals = {
  readonly at: number;
  readonly shapes: readonly (object | null)[];
  readonly results: readonly DatabaseRow[][];
  handleRowDescription: (this: QueryInternals, message: { readonly fields: readonly Field[] }) => void;
  handleCommandComplete: (this: QueryInternals) => void;
};

/** Remembers for each result how Postgres described its columns. */
const rememberFields = (): void => {
  const query = PipelinedQuery.prototype as unknown as QueryInternals;
  const { handleRowDescription, handleCommandComplete } = query;
  const fieldsOfShapes = new WeakMap<object, readonly Field[]>();
  query.handleRowDescription = function (message) {
    handleRowDescription.call(this, message);
    fieldsOfShapes.set(this.shapes[this.at] as object, message.fields);
  };
  query.handleCommandComplete = function () {
    const [shape, rows] = [this.shapes[this.at], this.results[this.at]];
    const fields = shape && fieldsOfShapes.get(shape);
    if (fields && rows) fieldsOfRows.set(rows, fields);
    handleCommandComplete.call(this);
  };
};

const addFields = (shape: ValueShape, fields: readonly Field[]): boolean => {
  let changed = addTo(shape.kinds, 'object');
  for (const { name, dataTypeID, tableID, columnID } of fields) {
    if (!shape.members[name]) changed = true;
    const member = (shape.members[name] ??= createShape());
    if (!JSON_TYPES.includes(dataTypeID))
      changed = addTo(member.kinds, KINDS[dataTypeID] ?? `other: type ${dataTypeID}`) || changed;
    if (tableID > 0) changed = addTo(member.columns, `${tableID}.${columnID}`) || changed;
  }
  const names = new Set(fields.map(({ name }) => name));
  for (const name of Object.keys(shape.members)) if (!names.has(name)) changed = addTo(shape.optional, name) || changed;
  return changed;
};

const sources = new Map<string, string | null>();

/** The file and line of the source, or null outside of the repository. */
const findSource = (frame: NodeJS.CallSite | undefined): string | null => {
  const [script, line, column] = [frame?.getFileName(), frame?.getLineNumber(), frame?.getColumnNumber()];
  if (!script || !line || !column) return null;
  const path = script.startsWith('file:') ? fileURLToPath(script) : script;
  const map = findSourceMap(path.split('?')[0] as string) ?? findSourceMap(script);
  const entry = map?.findEntry(line - 1, column - 1);
  return entry && 'originalLine' in entry
    ? `${relative(`${BUILD}/dist`, path).replace(/\.js(?:\?.*)?$/, '.ts')}:${entry.originalLine + 1}`
    : null;
};

/** The call site in the sources that reads rows of a type. */
const findCallSite = (): string | null => {
  const { stackTraceLimit } = Error;
  const prepareStackTrace: unknown = Reflect.get(Error, 'prepareStackTrace');
  Error.stackTraceLimit = 8;
  Error.prepareStackTrace = (_, frames) => frames;
  const frames = new Error().stack as unknown as readonly NodeJS.CallSite[];
  Object.assign(Error, { prepareStackTrace, stackTraceLimit });
  // The frames of this function and of its caller come first.
  const frame = frames.slice(2).find((one) => !PASSING.some((file) => (one.getFileName() ?? '').endsWith(file)));
  // V8 finds the line of a position slowly.
  const key = `${frame?.getFileName()}:${frame?.getPosition()}`;
  const cached = sources.get(key);
  if (cached !== undefined) return cached;
  const source = findSource(frame);
  sources.set(key, source);
  return source;
};

/** So many rows of a result show every kind of value. */
const MAX_ROWS = 100;

/**
 * Lists return a row of the owner alone, with nulls, if the owner has nothing. These rows have a type of their own in a
 * union, so they get a shape of their own. One of these columns distinguishes them.
 */
export const IDENTIFYING_COLUMNS = ['id', 'key', 'name'] as const;

/** The name under which a row is recorded. */
const describeCallSite = (callSite: string, row: DatabaseRow): string => {
  const absent = IDENTIFYING_COLUMNS.find((column) => row[column] === null);
  return absent === undefined ? callSite : `${callSite} without ${absent}`;
};

let isChanged = false;

const recordShape = (callSite: string, add: (shape: ValueShape) => boolean): void => {
  isChanged = add((recorded[callSite] ??= createShape())) || isChanged;
};

/** Records from now on the shape of all rows that get a type. */
export const recordRows = (): void => {
  rememberFields();
  rowCasts.create = <T>() => {
    const callSite = findCallSite();
    return (rows) => {
      if (callSite === null) return rows as T[];
      const fields = fieldsOfRows.get(rows);
      if (fields) recordShape(callSite, (shape) => addFields(shape, fields));
      for (const row of rows.slice(0, MAX_ROWS))
        recordShape(describeCallSite(callSite, row), (shape) => addValue(shape, row));
      return rows as T[];
    };
  };
};

/** Writes all that is recorded to the file, if it has changed since the last call. */
export const saveRecordedRows = (file: string): void => {
  if (!isChanged) return;
  isChanged = false;
  writeFileSync(file, JSON.stringify(recorded));
};
