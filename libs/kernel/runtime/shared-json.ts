/**
 * JSON objects split into the members that all of them have in common, and the others of each. `shared || own` is the
 * complete object again. Many events differ in a few members, and Postgres takes much longer to parse JSON than to join
 * two parsed values.
 */
export type SharedJson = { readonly shared: string; readonly own: readonly string[] };

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

/** Returns the JSON of objects, for statements with many rows. Their members must be JSON values. */
export const shareJson = (values: readonly object[]): SharedJson => {
  const [first = {}, ...others] = values as readonly JsonMembers[];
  // A member that an object lacks must not reach it through `shared`.
  const shared = new Set(
    Object.keys(first).filter((key) =>
      others.every((other) => Object.hasOwn(other, key) && isSameJson(other[key], first[key])),
    ),
  );
  const pick = (value: JsonMembers, isShared: boolean): string =>
    JSON.stringify(Object.fromEntries(Object.entries(value).filter(([key]) => shared.has(key) === isShared)));
  return { shared: pick(first, true), own: (values as readonly JsonMembers[]).map((value) => pick(value, false)) };
};
