export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null;

type ResourceChange = (resource: JsonObject) => JsonObject;

const mapAll = (resources: unknown, change: ResourceChange): unknown => {
  if (Array.isArray(resources)) return resources.map((resource) => mapAll(resource, change));
  return isObject(resources) ? change(resources) : resources;
};

/** Returns a JSON:API document with each of its resources changed. Any other body is returned unchanged. */
export const mapResources = (document: unknown, change: ResourceChange): unknown => {
  if (!isObject(document) || !('data' in document)) return document;
  const { data, included } = document;
  return {
    ...document,
    data: mapAll(data, change),
    ...(included === undefined ? {} : { included: mapAll(included, change) }),
  };
};

/** Removes fields that an edition does not have from the `changes` of a history entry. */
export const removeChanges = (missing: ReadonlySet<string>, changes: unknown): unknown =>
  Array.isArray(changes)
    ? changes.filter((change: unknown) => !isObject(change) || !missing.has(change['field'] as string))
    : changes;
