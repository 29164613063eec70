/**
 * JSON objects split into the members that all of them have in common, and the others of each. `shared || own` is the
 * complete object again. Many events differ in a few members, and Postgres takes much longer to parse JSON than to join
 * two parsed values.
 */
type SharedJson = {
  readonly shared: string;
  /** A JSON array: one parameter costs less than an array of parameters, whose quotes must be escaped. */
  readonly own: string;
};

type JsonMembers = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is JsonMembers => typeof value === 'object' && value !== null;

/** Returns whether two values give the same JSON. Creates no JSON, because that would take most of the time. */
const isSameJson = (left: unknown, right: unknown): boolean => {
  if (Object.is(left, right)) return true;
  if (!isObject(left) || !isObject(right) || Array.isArray(left) !== Array.isArray(right)) return false;
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && isSameJson(left[key], right[key]))
  );
};

const pickMembers = (value: JsonMembers, keys: readonly string[]): string => {
  // Without a prototype, a member may have the name __proto__.
  const picked = Object.create(null) as Record<string, unknown>;
  for (const key of keys) picked[key] = value[key];
  return JSON.stringify(picked);
};

/** Returns the JSON of objects, for statements with many rows. Their members must be JSON values. */
export const shareJson = (values: readonly object[]): SharedJson => {
  const [first = {}, ...others] = values as readonly JsonMembers[];
  const keys = Object.keys(first);
  // A member that an object lacks must not reach it through `shared`.
  const shared = new Set(
    keys.filter((key) => others.every((other) => Object.hasOwn(other, key) && isSameJson(other[key], first[key]))),
  );
  const ownKeys = keys.filter((key) => !shared.has(key));
  // Most objects have the members of the first one. Nearly all of these are shared, so they are not visited again.
  const listOwnKeys = (value: JsonMembers): readonly string[] => {
    const all = Object.keys(value);
    const hasSameKeys = all.length === keys.length && ownKeys.every((key) => Object.hasOwn(value, key));
    return hasSameKeys ? ownKeys : all.filter((key) => !shared.has(key));
  };
  const own = (values as readonly JsonMembers[]).map((value) => pickMembers(value, listOwnKeys(value)));
  return { shared: pickMembers(first, [...shared]), own: `[${own.join(',')}]` };
};
