/** What kinds of values were seen at one call site of a row, and what these values contain. It only ever grows. */
export type ValueShape = {
  readonly kinds: ValueKind[];
  /** The distinct strings, as long as they are few; null after that. */
  texts: string[] | null;
  /** Of objects: their members, and the names of the members that some objects lack. */
  readonly members: Record<string, ValueShape>;
  readonly optional: string[];
  /** Of arrays. */
  elements?: ValueShape;
  /** Of a column that a table contains: the table and the column by their numbers in the catalogue. */
  readonly columns: string[];
};

export type ValueKind = 'array' | 'boolean' | 'bytes' | 'null' | 'number' | 'object' | 'string' | `other: ${string}`;

export const createShape = (): ValueShape => ({ kinds: [], texts: [], members: {}, optional: [], columns: [] });

/** The types of columns compare strings with literals. Unions of more literals than this are not compared. */
const MAX_TEXTS = 40;
const MAX_TEXT_LENGTH = 60;
/** Enough to see every kind of element. */
const MAX_ELEMENTS = 100;
/** An object with more members is a map, whose keys are data. */
const MAX_MEMBERS = 80;
/** What is nested deeper is the content of a document or of an event, which has a schema of its own. */
const MAX_DEPTH = 3;

const findKind = (value: unknown): ValueKind => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (value instanceof Uint8Array) return 'bytes';
  const type = typeof value;
  if (type === 'boolean' || type === 'number' || type === 'string') return type;
  return Object.getPrototypeOf(value) === Object.prototype
    ? 'object'
    : `other: ${Object.prototype.toString.call(value)}`;
};

/** Adds the item to the set, and returns whether it is new. */
export const addTo = <T>(set: T[], item: T): boolean => {
  if (set.includes(item)) return false;
  set.push(item);
  return true;
};

/** Adds a value to the shape, and returns whether the shape has changed. */
export const addValue = (shape: ValueShape, value: unknown, depth = 0): boolean => {
  const kind = findKind(value);
  if (depth > MAX_DEPTH && (kind === 'array' || kind === 'object')) return false;
  const isFirstObject = kind === 'object' && !shape.kinds.includes('object');
  let changed = addTo(shape.kinds, kind);
  if (typeof value === 'string') changed = addText(shape, value) || changed;
  if (Array.isArray(value)) {
    if (value.length > 0) shape.elements ??= createShape();
    for (const element of value.slice(0, MAX_ELEMENTS))
      changed = addValue(shape.elements as ValueShape, element, depth + 1) || changed;
  }
  if (kind === 'object') changed = addMembers(shape, value as Record<string, unknown>, isFirstObject, depth) || changed;
  return changed;
};

const addText = (shape: ValueShape, text: string): boolean => {
  if (shape.texts === null || shape.texts.includes(text)) return false;
  if (shape.texts.length < MAX_TEXTS && text.length <= MAX_TEXT_LENGTH) shape.texts.push(text);
  else shape.texts = null;
  return true;
};

const addMembers = (
  shape: ValueShape,
  object: Readonly<Record<string, unknown>>,
  isFirst: boolean,
  depth: number,
): boolean => {
  let changed = false;
  for (const [name, value] of Object.entries(object)) {
    if (!Object.hasOwn(shape.members, name)) {
      if (Object.keys(shape.members).length >= MAX_MEMBERS) continue;
      shape.members[name] = createShape();
      if (!isFirst) shape.optional.push(name);
      changed = true;
    }
    changed = addValue(shape.members[name] as ValueShape, value, depth + 1) || changed;
  }
  for (const name of Object.keys(shape.members))
    if (!Object.hasOwn(object, name)) changed = addTo(shape.optional, name) || changed;
  return changed;
};
