export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null;

type ResourceChange = (resource: JsonObject) => JsonObject;

const mapAll = (resources: unknown, change: ResourceChange): unknown => {
  if (Array.isArray(resources)) return resources.map((resource) => mapAll(resource, change));
  return isObject(resources) ? change(resources) : resources;
};

/** A JSON:API document with each of its resources changed; what is none stays as it is. */
export const mapResources = (document: unknown, change: ResourceChange): unknown => {
  if (!isObject(document) || !('data' in document)) return document;
  const { data, included } = document;
  return {
    ...document,
    data: mapAll(data, change),
    ...(included === undefined ? {} : { included: mapAll(included, change) }),
  };
};

/** The `changes` that an entry of a workspace's history tells of, without those of fields that an edition lacks. */
export const removeChanges = (missing: ReadonlySet<string>, changes: unknown): unknown =>
  Array.isArray(changes)
    ? changes.filter((change: unknown) => !isObject(change) || !missing.has(change['field'] as string))
    : changes;
