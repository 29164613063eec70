export type Values = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Values => typeof value === 'object' && value !== null;

type Change = (resource: Values) => Values;

const ofAll = (resources: unknown, change: Change): unknown => {
  if (Array.isArray(resources)) return resources.map((resource) => ofAll(resource, change));
  return isObject(resources) ? change(resources) : resources;
};

/** A JSON:API document with each of its resources changed; what is none stays as it is. */
export const withEachResource = (document: unknown, change: Change): unknown => {
  if (!isObject(document) || !('data' in document)) return document;
  const { data, included } = document;
  return {
    ...document,
    data: ofAll(data, change),
    ...(included === undefined ? {} : { included: ofAll(included, change) }),
  };
};

/** The `changes` that an entry of a workspace's history tells of, without those of fields that an edition lacks. */
export const changesWithout = (missing: ReadonlySet<string>, changes: unknown): unknown =>
  Array.isArray(changes)
    ? changes.filter((change: unknown) => !isObject(change) || !missing.has(change['field'] as string))
    : changes;
